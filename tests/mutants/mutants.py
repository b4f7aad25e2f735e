#!/usr/bin/env python3
"""Changes one small thing at a time and asks whether the tests of the same room notice.

    python3 tests/mutants/mutants.py [--count 25] [--seed 1] [--room layers ...] [--json FILE]

Works in a copy of the last commit (build/mutants), never in the working tree. A mutant swaps a sign,
a comparison or a bound, drops a term, or changes a number in a line that computes; the same seed draws
the same ones. Those that do not compile are not counted. Prints each survivor as a change of its line.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

# Where mutants are made, and which programs have to notice.
ROOMS = {
    "layers": (["sim/layers", "sim/models/transformer", "sim/models/resnet.cpp"],
               ["layers_test", "models_test"]),
    "costs": (["sim/costs"], ["costs_test"]),
    "schedules": (["sim/jobs/schedules", "sim/jobs/recompute", "sim/jobs/memory.cpp",
                   "sim/jobs/stage_parameters.cpp", "sim/jobs/rank_shape_of.cpp"], ["jobs_test"]),
    "programs": (["sim/programs"], ["programs_test"]),
}
# Readers of files are told by their messages, not by arithmetic.
NOT_HERE = re.compile(r"/(read_|.*_fields\.cpp|.*_table\.cpp|huggingface)")
SWAPS = [
    (r" \* ", " / "), (r" / ", " * "), (r" \+ ", " - "), (r" - ", " + "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r"\bstd::min\(", "std::max("), (r"\bstd::max\(", "std::min("),
    (r"(?<=[ (])!(?=[a-z])", ""), (r" \+= ", " -= "),
    (r"\b1\.0\b", "2.0"), (r"\b2\.0\b", "1.0"), (r"\b0\.5\b", "1.0"), (r"\b3\.0\b", "2.0"),
    (r" \+ 1\b", " + 2"), (r" - 1\b", " - 2"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
]
DROPPED = re.compile(r"^\s+[\w.\[\]>():*-]+ (\+=|-=|\*=) .*;\s*$")
SKIPPED = re.compile(r"^\s*(//|#|\*|static_assert|template|using )|HEADWAY_CHECK|operator|constexpr std::string"
                     r"|\"|^\s*for \(|std::vector<|[a-z]> ")


def source_files(tree, places):
    for place in places:
        path = tree / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.cpp"))


def candidates(tree, places):
    """Every (file, line number, column, old, new) there is."""
    found = []
    for file in source_files(tree, places):
        if NOT_HERE.search(str(file.relative_to(tree))):
            continue
        for number, line in enumerate(file.read_text().splitlines()):
            code = line.split("//")[0]
            if SKIPPED.search(code):
                continue
            if DROPPED.match(code):
                found.append((file, number, 0, code, ""))
            for pattern, new in SWAPS:
                for match in re.finditer(pattern, code):
                    found.append((file, number, match.start(), match.group(), new))
    return found


def run(command, limit, cwd):
    try:
        return subprocess.run(command, cwd=cwd, timeout=limit, capture_output=True).returncode
    except subprocess.TimeoutExpired:
        return -1


class Copy:
    """The last commit, built once with every source by itself."""

    def __init__(self, root, options):
        self.tree = root / "build" / "mutants"
        self.build = self.tree / "build" / "mutants"
        if not self.tree.exists():
            subprocess.run(["git", "worktree", "add", "--detach", self.tree], cwd=root, check=True)
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True,
                                capture_output=True, text=True).stdout.strip()
        subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", commit],
                       cwd=self.tree, check=True)
        subprocess.run(["cmake", "--preset", "release", "-B", self.build, "-DHEADWAY_UNITY=OFF",
                        "-DHEADWAY_CUDA=OFF", "-DHEADWAY_TESTS=ON", *options],
                       cwd=self.tree, check=True, stdout=subprocess.DEVNULL)

    def make(self, targets):
        return run(["ninja", "-C", self.build, *targets], 3600, self.tree)

    def passes(self, programs):
        return all(run([self.build / "tests" / "sim" / program, "--gtest_brief=1"], 300,
                       self.tree) == 0 for program in programs)

    def judge(self, mutant, programs):
        """"killed", "survived" or "not compiled"."""
        file, number, column, old, new = mutant
        before = file.read_text()
        lines = before.splitlines(keepends=True)
        line = lines[number]
        lines[number] = line[:column] + new + line[column + len(old):]
        file.write_text("".join(lines))
        try:
            if self.make(programs) != 0:
                return "not compiled"
            return "survived" if self.passes(programs) else "killed"
        finally:
            file.write_text(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=25, help="mutants of each room (25)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", choices=sorted(ROOMS), help="all")
    parser.add_argument("--json", type=Path, help="also written there")
    parser.add_argument("cmake", nargs="*", help="after --: options of the build")
    asked = parser.parse_args()
    copy = Copy(Path(__file__).resolve().parents[2], asked.cmake)
    report = []
    for room in asked.room or ROOMS:
        places, programs = ROOMS[room]
        if copy.make(programs) != 0:
            sys.exit(f"{', '.join(programs)} do not build: `ninja -C {copy.build}` says why")
        if not copy.passes(programs):
            sys.exit(f"{', '.join(programs)} fail before anything is changed")
        drawn = candidates(copy.tree, places)
        random.Random(f"{asked.seed} {room}").shuffle(drawn)
        tried = 0
        for mutant in drawn:
            if tried == asked.count:
                break
            start = time.monotonic()
            outcome = copy.judge(mutant, programs)
            if outcome == "not compiled":
                continue
            tried += 1
            file, number, _, old, new = mutant
            place = f"{file.relative_to(copy.tree)}:{number + 1}"
            report.append({"room": room, "place": place, "old": old.strip(), "new": new.strip(),
                           "outcome": outcome})
            print(f"{room} {tried}/{asked.count} {outcome} {place} '{old.strip()}' -> '{new.strip()}'"
                  f"  {time.monotonic() - start:.0f} s", flush=True)
        copy.make(programs)
        killed = sum(1 for one in report if one["room"] == room and one["outcome"] == "killed")
        print(f"{room}: {killed} of {tried} killed", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(report, indent=1) + "\n")
    killed = sum(1 for one in report if one["outcome"] == "killed")
    print(f"{killed} of {len(report)} mutants killed")


if __name__ == "__main__":
    main()
