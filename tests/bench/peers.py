#!/usr/bin/env python3
"""Runs other simulators on the same work as Headway, in the same minutes, and prints ratios.

usage: peers.py HEADWAY DIR [--samples N]

DIR holds what there is of them; what is not there is said and left out.

DIR/calculon   a checkout of https://github.com/calculon-ai/calculon, a closed form in Python: GPT-3
               175B on 1,024 A100. What an execution costs to be worked out (compiled and run, as its
               search does with each), of N drawn from those that its search goes through without
               offloading and overlapped tensor parallelism; and the step that it predicts for the
               shipped scenario's strategy.
DIR/astra-sim  a built checkout of https://github.com/astra-sim/astra-sim, with its analytical network
               (build/astra_analytical/build.sh): an all-reduce of 1 MiB around a ring of 4,096 NPUs.
               Its workload is written by its own generator, which needs the protobuf code of its
               Chakra submodule.

Processor time of one core each. Nothing here passes or fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SCENARIO = "gpt3_175b_1024"
RING = 4096
RING_BYTES = 2**20
ASTRA_BINARY = "build/astra_analytical/build/bin/AstraSim_Analytical_Congestion_Aware"
ASTRA_GENERATOR = "examples/workload/microbenchmarks/generator_scripts/all_reduce.py"
ASTRA_SYSTEM = "examples/system/native_collectives/Ring_4chunks.json"
ASTRA_MEMORY = "examples/remote_memory/analytical/no_memory_expansion.json"

# Runs in a Python of its own, which has Calculon's modules.
CALCULON = r'''
import glob, json, logging, os, random, statistics, sys, time

job = json.load(sys.stdin)
sys.path.insert(0, job["checkout"])
from calculon import System
from calculon.llm import Llm


def document(name):
    found = sorted(glob.glob(os.path.join(job["checkout"], "**", name), recursive=True))
    if not found:
        raise SystemExit(f"{job['checkout']} has no {name}")
    with open(found[-1], encoding="utf-8") as file:
        return json.load(file)


application = Llm.Application(document("gpt3-175B.json"))
system = System(document("a100_80g.json"))
log = logging.Logger("calculon")  # tells nobody, as in its search


def execution(degrees, interleaving, micro_batch, recompute, sharding, sequence):
    tensor, pipeline, data = degrees
    return {
        "num_procs": job["gpus"], "tensor_par": tensor, "pipeline_par": pipeline,
        "data_par": data, "tensor_par_net": 0 if tensor <= system.get_network(0).size else 1,
        "pipeline_par_net": 1, "data_par_net": 1, "batch_size": job["batch"],
        "microbatch_size": micro_batch, "datatype": "float16", "fused_activation": True,
        "attention_type": "multihead", "activation_recompute": recompute,
        "pipeline_interleaving": interleaving, "optimizer_sharding": sharding,
        "tensor_par_comm_type": "rs_ag" if sequence else "ar", "tensor_par_overlap": "none",
        "seq_par_ag_redo": False, "data_par_overlap": data > 1 and job["overlap"],
        "weight_offload": False, "activations_offload": False, "optimizer_offload": False,
        "training": True}


def step_time(fields):
    """Nothing where it does not fit."""
    model = Llm(application, log)
    try:
        model.compile(system, Llm.Execution.from_json(fields))
        model.run(system)
    except Llm.Error:
        return None
    return model.get_total_time()


executions = []
blocks = application.num_blocks
for tensor in Llm.get_all_tensor_parallelisms(job["gpus"], application.hidden,
                                              application.attn_heads):
    for pipeline in Llm.get_all_pipeline_parallelisms(job["gpus"], tensor, blocks):
        data = Llm.get_data_parallelism(job["gpus"], tensor, pipeline)
        if job["batch"] % data:
            continue
        for interleaving in Llm.get_valid_pipeline_interleavings(blocks, pipeline):
            for micro_batch in Llm.get_valid_microbatch_sizes(
                    application.seq_size, tensor, data, job["batch"], pipeline):
                for recompute in ("full", "attn_only", "none"):
                    for sharding in ((True, False) if data > 1 else (False,)):
                        for sequence in (True, False):
                            executions.append(((tensor, pipeline, data), interleaving,
                                               micro_batch, recompute, sharding, sequence))
drawn = random.Random(1).sample(executions, min(job["samples"], len(executions)))
seconds = []
fitting = 0
for one in drawn:
    before = time.process_time()
    fitting += step_time(execution(*one)) is not None
    seconds.append(time.process_time() - before)
json.dump({"executions": len(executions), "drawn": len(drawn), "fitting": fitting,
           "mean_s": statistics.mean(seconds), "median_s": statistics.median(seconds),
           "step_s": step_time(execution(*job["strategy"]))}, sys.stdout)
'''


def run(command, **options):
    """What it printed to both streams, its processor seconds and the most memory that it held."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        text = options.pop("input", None)
        child = subprocess.Popen(command, stdout=output, stderr=errors,
                                 stdin=subprocess.PIPE if text else subprocess.DEVNULL, **options)
        if text:
            child.stdin.write(text.encode())
            child.stdin.close()
        _, status, usage = os.wait4(child.pid, 0)
        output.seek(0)
        errors.seek(0)
        said, complained = output.read().decode(), errors.read().decode()
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"{' '.join(command[:2])}: exit {code}\n{complained.strip()}")
    return said, complained, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def seconds_of(text):
    """Of "267 us"."""
    number, unit = text.split()
    return float(number.replace(",", "")) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def shown(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale or unit == "us":
            return f"{seconds / scale:.3g} {unit}"
    return ""


def line(what, ours, theirs):
    print(f"{what:56}{shown(ours):>12}{shown(theirs):>12}{theirs / ours:>10.3g}", flush=True)


def strategy_words(strategy):
    """The scenario's strategy as Calculon's executions have it."""
    recompute = {"full": "full", "selective": "attn_only", "none": "none"}[strategy["recompute"]]
    return [[strategy["tensor_parallel"], strategy["pipeline_parallel"], strategy["data_parallel"]],
            strategy["virtual_stages"], strategy["micro_batch"], recompute,
            strategy["zero_stage"] == 1, strategy["sequence_parallel"]]


def calculon(headway, checkout, samples):
    said = run([headway, "simulate", SCENARIO, "--json", "-q", "-j", "1"])[0]
    answer = json.loads(said)
    strategy = answer["scenario"]["strategy"]
    job = {"checkout": checkout, "gpus": answer["gpus"], "batch": strategy["global_batch"],
           "samples": samples, "strategy": strategy_words(strategy),
           "overlap": strategy["overlap_gradient_reduce"]}
    theirs = json.loads(run([sys.executable, "-c", CALCULON], input=json.dumps(job))[0])
    told = run([headway, "plan", SCENARIO, "--json", "-v", "-q", "-j", "1"])[1]
    judged = re.search(r"judged ([\d,]+) strategies in ([\d.]+ \w+) of one core.* ([\d,]+) closed "
                       r"forms ([\d.]+ \w+), ([\d.]+ \w+) in the median", told)
    strategies, closed_forms = (int(judged[i].replace(",", "")) for i in (1, 3))
    print(f"{SCENARIO}: {theirs['drawn']} of Calculon's {theirs['executions']:,} executions, "
          f"{theirs['fitting']} of which fit; {strategies:,} strategies of Headway's, "
          f"{closed_forms} in closed form")
    print(f"{'':56}{'Headway':>12}{'Calculon':>12}{'ratio':>10}")
    line("a closed form, in the median", seconds_of(judged[5]), theirs["median_s"])
    line("a closed form, on average", seconds_of(judged[4]) / closed_forms, theirs["mean_s"])
    line("a strategy of the whole search", seconds_of(judged[2]) / strategies, theirs["mean_s"])
    if theirs["step_s"] is None:
        print("the step of the scenario's strategy: does not fit, says Calculon")
    else:
        line("the step of the scenario's strategy", answer["iteration_time_s"], theirs["step_s"])


def ring_topology():
    return {"schema": "headway/topology/1", "name": f"ring-{RING}", "nodes": RING,
            "node": {"accelerator": "any", "accelerators": 1,
                     "nics": {"count": 1, "bandwidth": "50 GB/s"}},
            "fabric": {"kind": "torus", "dims": [RING], "bandwidth": "50 GB/s",
                       "hop_latency": "500 ns"}}


def astra_sim(headway, checkout):
    with tempfile.TemporaryDirectory() as folder:
        def write(name, document):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file)
            return path
        said, _, ours_s, ours_bytes = run(
            [headway, "collective", write("topology.json", ring_topology()), "--op", "all_reduce",
             "--algorithm", "ring", "--bytes", f"{RING_BYTES}B", "--json", "-q", "-j", "1"])
        ours = json.loads(said)["rows"][0]["time_s"]
        run([sys.executable, os.path.join(checkout, ASTRA_GENERATOR), "--npus-count", str(RING),
             "--coll-size", str(RING_BYTES // 2**20)],
            cwd=folder, env={**os.environ, "PYTHONPATH": checkout})
        network = write("network.json", {"topology": ["Ring"], "npus_count": [RING],
                                         "bandwidth": [50.0], "latency": [500.0]})
        said, _, theirs_s, theirs_bytes = run(
            [os.path.join(checkout, ASTRA_BINARY),
             f"--workload-configuration={folder}/all_reduce/{RING}npus_1MB/all_reduce",
             f"--system-configuration={os.path.join(checkout, ASTRA_SYSTEM)}",
             f"--remote-memory-configuration={os.path.join(checkout, ASTRA_MEMORY)}",
             f"--network-configuration={network}"], cwd=folder)
    print(f"{RING:,} NPUs in a ring, all-reduce of 1 MiB: Headway {ours_bytes / 2**20:.0f} MiB, "
          f"ASTRA-sim {theirs_bytes / 2**20:.0f} MiB of memory")
    print(f"{'':56}{'Headway':>12}{'ASTRA-sim':>12}{'ratio':>10}")
    line("to simulate it", ours_s, theirs_s)
    cycles = [int(number) for number in re.findall(r"finished, (\d+) cycles", said)]
    if cycles:  # of a nanosecond
        line("what it takes (ASTRA-sim knows no latency of NICs)", ours, 1e-9 * max(cycles))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--samples", type=int, default=500)
    asked = parser.parse_args()
    folder = os.path.abspath(asked.folder)
    peers = [("calculon", "calculon/llm", "a checkout of https://github.com/calculon-ai/calculon",
              lambda checkout: calculon(asked.program, checkout, asked.samples)),
             ("astra-sim", ASTRA_BINARY,
              "a checkout of https://github.com/astra-sim/astra-sim, built by "
              "build/astra_analytical/build.sh",
              lambda checkout: astra_sim(asked.program, checkout))]
    for name, wanted, what, measure in peers:
        checkout = os.path.join(folder, name)
        if not os.path.exists(os.path.join(checkout, wanted)):
            print(f"{name}: {os.path.join(checkout, wanted)} is not there; {what} would be measured")
            continue
        try:
            measure(checkout)
        except RuntimeError as error:
            print(f"{name} could not be measured: {error}")


if __name__ == "__main__":
    main()
