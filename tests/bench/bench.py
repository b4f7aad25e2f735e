#!/usr/bin/env python3
"""Times what planners do, on one core, and prints a table (and JSON): run it on a quiet machine.

usage: bench.py HEADWAY [--json FILE] [--only WORD] [--repeat N]
       bench.py PLAN_TEST --brute [--only PROBLEM]

Processor time is what counts where others use the machine too; of several runs the least is
taken. Counts (events, flows whose rate was computed anew, rates that changed; of the median
replica) tell of a regression on any machine. Nothing here passes or fails: numbers are for people
to compare.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DENSE = os.path.join(ROOT, "scenarios", "llama3_405b_16384.json")
MIXTURE = os.path.join(ROOT, "scenarios", "qwen3_235b_a22b_256.json")
SMALL = os.path.join(ROOT, "scenarios", "llama3_8b_64.json")
LISTED = os.path.join(ROOT, "scenarios", "listed_layers_16.json")
GPT3 = os.path.join(ROOT, "scenarios", "gpt3_175b_1024.json")
FOLDER = "{folder}"  # in a command: an empty one
POINTS = 1000  # of the sweep
REPLICA = 128  # accelerators of one replica of the dense job: tp 8, pp 16


def pods(gpus):
    """As many pods of 3,072 GPUs as the job needs, joined as in the shipped topology."""
    return max(8, math.ceil(gpus / 8 / 384))


def dense(gpus, *more):
    """The 405B job on `gpus` GPUs: the same work for each replica."""
    replicas = gpus // REPLICA
    sets = {"/cluster/nodes": gpus // 8,
            "/strategy/data_parallel": replicas,
            "/strategy/global_batch": 16 * replicas}
    if gpus > 24576:
        count = pods(gpus)
        sets["/cluster/topology/nodes"] = count * 384
        sets["/cluster/topology/fabric/pods"] = count
        sets["/cluster/topology/expect"] = "{}"
    # 4,096 GPUs are half a GiB short, which does not make the work another.
    command = ["simulate", DENSE, "--json", "-j", "1", "--even-if-it-does-not-fit"]
    if gpus > 4096:
        command += ["--reference", "4096"]
    for pointer, value in sets.items():
        command += ["--set", f"{pointer}={value}"]
    return command + list(more)


def experts(gpus, *more):
    """DeepSeek-V3 with its experts over 64 ranks and 16 stages, every exchange a flow."""
    sets = {"/model": "deepseek_v3", "/cluster/topology": "dgx_h100_superpod_16k"}
    if gpus > 16384:  # as many pods, on core switches of more ports
        sets |= {"/cluster/topology/nodes": gpus // 8,
                 "/cluster/topology/fabric/pods": gpus // 1024,
                 "/cluster/topology/fabric/core/ports": gpus // 256,
                 "/cluster/topology/expect": "{}"}
    sets |= {
            "/cluster/nodes": gpus // 8, "/strategy/tensor_parallel": 1,
            "/strategy/pipeline_parallel": 16, "/strategy/virtual_stages": 1,
            "/strategy/expert_parallel": 64, "/strategy/global_batch": 64 * (gpus // 16),
            "/strategy/recompute": "full", "/strategy/layer_placement": "even"}
    command = ["simulate", MIXTURE, "--json", "-j", "1", "--replicas", "1",
               "--even-if-it-does-not-fit"]
    for pointer, value in sets.items():
        command += ["--set", f"{pointer}={value}"]
    return command + list(more)


# 4,096 A100 that have too little memory for it, so that nothing is simulated: what is kept of five
# million strategies, and that each is judged by its memory.
MANY_STRATEGIES = [
    "plan", GPT3, "--json", "-v", "-j", "1", "--set", "/cluster/nodes=512",
    "--set", "/model/layers=576", "--set", "/model/hidden=98304",
    "--set", "/model/ffn_hidden=393216", "--set", "/strategy/global_batch=23040"]

SPREAD = ["--set", "/perturbations={\"device_spread\": 0.02, \"operation_spread\": 0.02}"]
EVEN = ["--set", "/perturbations={\"device_spread\": 0, \"operation_spread\": 0}"]
SLOW = ["--set", "/perturbations={\"slow_accelerators\": [{\"accelerator\": 7, "
        "\"time_factor\": 1.25}]}"]
CABLE = ["--set", "/perturbations={\"slow_links\": [{\"nic\": \"node1/nic0\", "
         "\"bandwidth_factor\": 0.5}]}"]
ECMP = ["--set", "/cluster/topology/routing={\"kind\": \"ecmp\", \"queue_pairs\": 16}"]
ADAPTIVE = ["--set", "/cluster/topology/routing={\"kind\": \"adaptive\"}"]


def benchmarks():
    """(name, GPUs, command)"""
    for gpus in (4096, 16384, 65536, 131072, 1048576):
        yield "simulate, nothing drawn", gpus, dense(gpus, *EVEN)
    for gpus in (4096, 16384, 65536, 131072):
        yield "simulate, as the profile draws", gpus, dense(gpus)
    for gpus in (4096, 16384):
        yield "simulate, one slow GPU", gpus, dense(gpus, *SLOW)
    yield "simulate, one slow cable", 16384, dense(16384, *CABLE)
    for gpus in (16384, 131072):
        yield "simulate, ECMP", gpus, dense(gpus, *ECMP)
    for gpus in (16384, 131072):
        yield "simulate, adaptive routing", gpus, dense(gpus, *ADAPTIVE)
    yield "simulate, 10 replicas", 4096, dense(4096, *SPREAD, "--replicas", "10")
    yield "what-if", 4096, dense(4096, *SLOW, "--what-if")
    yield "simulate, 50 replicas", 16384, dense(16384, *SPREAD, "--replicas", "50")
    yield "simulate, mixture of experts", 256, ["simulate", MIXTURE, "--json", "-j", "1"]
    for gpus in (16384, 65536):
        yield "simulate, DeepSeek-V3, nothing drawn", gpus, experts(gpus, *EVEN)
    for gpus in (16384, 65536):
        yield "simulate, DeepSeek-V3", gpus, experts(gpus)
    yield "plan", 64, ["plan", SMALL, "--json", "-v", "-j", "1"]
    yield "plan, GPT-3", 4096, ["plan", GPT3, "--json", "-v", "-j", "1",
                                "--set", "/cluster/nodes=512"]
    yield "plan, many strategies", 4096, MANY_STRATEGIES
    yield f"sweep, {POINTS:,} points", 16, [
        "sweep", LISTED, "--axis", f"/run/seed=1..{POINTS}+1", "-j", "1", "-q", "-o", FOLDER]
    yield "validate", None, ["validate", "--json", "-j", "1"]
    yield "start", None, ["--version"]


def memory_of_itself(process):
    """The most that a process held while it ran, whatever its children do; it is not reaped."""
    most = 0
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with open(f"/proc/{process}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    most = max(most, int(line.split()[1]) * 1024)
        time.sleep(0.02)
    return most


def measured(program, command, repeat):
    """Processor seconds (the least of all runs), memory of the largest process and of the first one,
    the document, what was said, and what is left on disk."""
    best = None
    for _ in range(repeat):
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, \
                tempfile.TemporaryDirectory() as folder:
            words = [folder if word == FOLDER else word for word in command]
            child = subprocess.Popen([program, *words], stdout=output, stderr=errors)
            own = memory_of_itself(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
            output.seek(0)
            errors.seek(0)
            text = output.read()
            message = errors.read().decode()
            code = os.waitstatus_to_exitcode(status)
            if code not in (0, 1):  # 1 is an answer: it does not fit
                raise SystemExit(f"{' '.join(command)}: exit {code}\n{message}")
            kept = sum(file.stat().st_size for file in os.scandir(folder))
        seconds = usage.ru_utime + usage.ru_stime
        if best is None or seconds < best["cpu_s"]:
            best = {"cpu_s": seconds, "memory_bytes": usage.ru_maxrss * 1024,
                    "own_memory_bytes": own, "disk_bytes": kept}
            document = json.loads(text) if b"{" in text[:1] else {}
            said = [line for line in message.splitlines() if line.startswith("judged ")]
    return best, document, said


def remark(row, said):
    """What a kind of row tells beside its columns."""
    if row["name"].startswith("sweep"):
        return (f"   {1e3 * row['cpu_s'] / POINTS:.2f} ms and {row['disk_bytes'] / POINTS:.0f} B "
                "a point")
    if row["name"].startswith("plan"):
        return f"   {row['own_memory_bytes'] / 1e6:.0f} MB of its own; {'; '.join(said)}"
    return ""


def exponents(rows):
    """By name: the power of the number of GPUs with which the time grew since the smaller job."""
    last = {}
    for row in rows:
        if row["gpus"] and row["name"] in last:
            before = last[row["name"]]
            row["growth"] = (math.log(row["cpu_s"] / before["cpu_s"]) /
                             math.log(row["gpus"] / before["gpus"]))
        if row["gpus"]:
            last[row["name"]] = row


def brute_force(program, only):
    """What the brute-force test of the plan simulates, and how often the plan missed the best."""
    with tempfile.NamedTemporaryFile() as output:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, f"--gtest_filter=Small/BruteForce.*{only}*",
                        f"--gtest_output=json:{output.name}"],
                       env={**os.environ, "HEADWAY_LARGE_PROBLEMS": "1"},
                       stdout=subprocess.DEVNULL, check=False)  # a loss is counted below
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        suites = json.load(open(output.name, encoding="utf-8"))["testsuites"]
    problems = [test for suite in suites for test in suite["testsuite"]]
    for test in problems:
        if "losses" not in test:
            raise SystemExit(f"{test['name']} ended before its plan was compared")
    candidates = sum(int(test["candidates"]) for test in problems)
    losses = sum(int(test["losses"]) for test in problems)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{len(problems)} problems, {candidates:,} strategies simulated one by one and each problem "
          f"planned: {seconds:.1f} CPU s, {losses} losses")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", metavar="WORD", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--brute", action="store_true")
    asked = parser.parse_args()
    if asked.brute:
        brute_force(asked.program, asked.only)
        return
    rows = []
    print(f"{'':38}{'GPUs':>9}{'CPU s':>9}{'GiB':>7}{'events':>12}{'recomputed':>12}"
          f"{'changed':>10}{'growth':>8}")
    for name, gpus, command in benchmarks():
        if asked.only not in name:
            continue
        taken, document, said = measured(asked.program, command, asked.repeat)
        row = {"name": name, "gpus": gpus, **taken, "events": document.get("events"),
               **document.get("sharing", {})}
        rows.append(row)
        exponents(rows)
        print(f"{name:38}{gpus or '':>9}{row['cpu_s']:>9.2f}{row['memory_bytes'] / 2**30:>7.2f}"
              f"{row['events'] or '':>12}{row.get('recomputed', ''):>12}"
              f"{row.get('changed', ''):>10}"
              + (f"{row['growth']:>8.2f}" if "growth" in row else "")
              + remark(row, said), flush=True)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump({"program": os.path.abspath(asked.program), "rows": rows}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
