#!/usr/bin/env python3
"""Finds, for each accelerator of a file of rows, the one factor that steps put on its products.

usage: fit_sustained_rate.py HEADWAY ROWS.json [--write]

HEADWAY is the program. Constants of these accelerators come from data sheets and from their makers'
kernel benchmarks; what of the rate of products a whole step sustains (clocks under power limits,
shapes) is one factor an accelerator on `gemm_efficiency`, at which the median of predicted over
published time is 1. Only rows count that are not held out, of dense models, whose software runs
compiled or fused kernels (no `te-ddp`). With --write the profiles take the factor, and say so;
a factor that they took before is taken out first.
"""
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from profile_text import path_of, profile_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
FITTED = re.compile(r"; times ([0-9.]+), fitted to .*$")
SLOW_SOFTWARE = {"te-ddp"}
STEPS = 12


def rows_of_fit(rows):
    """The accelerator of each row that may be fitted to."""
    columns = rows["columns"]
    at = {name: columns.index(name) for name in columns}
    chosen = {}
    for row in rows["rows"]:
        model = rows["models"][row[at["model"]]]
        if not row[at["held_out"]] and "moe" not in model and row[at["framework"]] not in SLOW_SOFTWARE:
            chosen[row[at["id"]]] = row[at["gpu"]]
    return chosen


def profile_name(accelerator):
    for path in path_of("").parent.glob("*.json"):
        if accelerator in json.loads(path.read_text())["hardware"]["published_as"]:
            return path.stem
    raise SystemExit(f"no profile is published as {accelerator}")


def with_factor(profile, factor, text=""):
    scaled = json.loads(json.dumps(profile))
    for estimate in scaled["device"]["gemm_efficiency"].values():
        before = FITTED.search(estimate["source"])
        value = estimate["value"] / (float(before[1]) if before else 1.0)
        estimate["value"] = float(f"{value * factor:.4g}")
        estimate["source"] = FITTED.sub("", estimate["source"]) + text
    return scaled


def errors(program, rows, profiles):
    """The logarithm of predicted over published time of every row, with these profiles."""
    with tempfile.TemporaryDirectory() as place:
        data = pathlib.Path(place)
        for part in ("scenarios", "topologies", "schema"):
            if (ROOT / part).exists():
                (data / part).symlink_to(ROOT / part)
        shutil.copytree(ROOT / "calibrate", data / "calibrate")
        for name, profile in profiles.items():
            (data / path_of(name).relative_to(ROOT)).write_text(profile_text(profile))
        said = subprocess.run([program, "validate", "--rows", rows, "--json"], check=True,
                              capture_output=True, env={**os.environ, "HEADWAY_DATA_DIR": place})
    return {row["id"]: math.log(row["predicted_s"] / row["published_s"])
            for row in json.loads(said.stdout)["rows"] if not row.get("refused")}


def main():
    program, rows_path = sys.argv[1:3]
    chosen = rows_of_fit(json.loads(pathlib.Path(rows_path).read_text()))
    names = {gpu: profile_name(gpu) for gpu in sorted(set(chosen.values()))}
    profiles = {name: json.loads(path_of(name).read_text()) for name in names.values()}
    low = {name: 0.5 for name in profiles}
    high = {name: 1.5 for name in profiles}

    def off(factors):
        found = errors(program, rows_path, {name: with_factor(profiles[name], factors[name])
                                            for name in profiles})
        return {names[gpu]: [found[row] for row in chosen if chosen[row] == gpu and row in found]
                for gpu in names}

    for _ in range(STEPS):  # the larger the factor, the shorter the step
        factors = {name: (low[name] + high[name]) / 2 for name in profiles}
        for name, found in off(factors).items():
            if statistics.median(found) < 0.0:
                high[name] = factors[name]
            else:
                low[name] = factors[name]
    factors = {name: float(f"{(low[name] + high[name]) / 2:.3f}") for name in profiles}
    left = off(factors)
    for name, factor in factors.items():
        mean = statistics.fmean(abs(error) for error in left[name])
        print(f"{name}: {factor:.3f} on {len(left[name])} rows, mean error left {mean:.3f}")
        if "--write" in sys.argv:
            text = (f"; times {factor:g}, fitted to {len(left[name])} published training steps "
                    "(tests/validation, Other silicon)")
            path_of(name).write_text(profile_text(with_factor(profiles[name], factor, text)))


if __name__ == "__main__":
    main()
