"""Times jobs on one GPU and writes rows of them; what torch_models.py and torch_huggingface.py share."""

import argparse
import gc
import json
import math
import statistics
import sys
import time

import torch

# What a device calls itself, and its profile.
PROFILES = [
    ("A100-SXM4-40", "a100_sxm_40gb"),
    ("A100-SXM4-80", "a100_sxm_80gb"),
    ("H100", "h100_sxm"),
    ("H200", "h200_sxm"),
    ("B200", "b200_sxm"),
    ("B300", "b300_sxm"),
]


def training_step(build, clipped=False):
    """A step as trainers take it: products in bf16 by autocast, the loss logged."""
    with torch.device("cuda"):
        network, loss, optimizers = build()
    network.train()
    trained = [weight for weight in network.parameters() if weight.requires_grad]

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            value = loss()
        value.backward()
        if clipped:
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        # The host waits for the device once a step.
        if not math.isfinite(value.item()):
            raise RuntimeError("the loss is no number")

    return step


def captured_step(build):
    """The same, of which the device got all kernels as one graph."""
    with torch.device("cuda"):
        network, loss, optimizers = build()
    network.train()

    def issue():
        # Casts of weights that autocast remembers would not be in the graph.
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            value = loss()
        value.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        return value

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            issue()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = issue()

    def step():
        graph.replay()
        if not math.isfinite(value.item()):
            raise RuntimeError("the loss is no number")

    return step


def timed(step, least, most, seconds):
    """What each of that many steps took, in seconds."""
    times, began = [], time.monotonic()
    while len(times) < least or (len(times) < most and time.monotonic() - began < seconds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        step()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return times


def run(build):
    """Times of a job's steps, and the most memory that was given out."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(1)
    step = build()
    for _ in range(4):
        step()
    return timed(step, 8, 40, 1.5), torch.cuda.max_memory_allocated()


def main(program, about, jobs):
    options = argparse.ArgumentParser(prog=program, description=about.split("\n\n")[0])
    options.add_argument("-o", "--output", required=True, metavar="FILE")
    options.add_argument("--only", action="append", default=[], metavar="WORD", help="jobs whose id has it")
    options.add_argument("--seconds", type=float, default=200.0, metavar="N", help="begin nothing after [200]")
    options = options.parse_args()
    if not torch.cuda.is_available():
        print(f"{program}: PyTorch sees no GPU", file=sys.stderr)
        return 3
    torch.set_float32_matmul_precision("high")
    device = torch.cuda.get_device_name()
    profile = next((ours for theirs, ours in PROFILES if theirs in device), None)
    if profile is None:
        print(f"{program}: no profile is known of {device}; write it into the rows", file=sys.stderr)
    began, rows, failed = time.monotonic(), [], 0
    for name, build, job in jobs:
        if options.only and not any(word in name for word in options.only):
            continue
        if time.monotonic() - began > options.seconds:
            print(f"{program}: time is up; {name} and what follows were not run", file=sys.stderr)
            break
        start = time.monotonic()
        try:
            times, memory = run(build)
        except Exception as error:  # noqa: BLE001, whatever it is, the other jobs are worth having
            failed += 1
            print(f"{program}: {name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
            continue
        finally:
            torch._dynamo.reset()
        rows.append({
            "id": name, "kind": "measured_job",
            "source": f"scripts/{program}, PyTorch {torch.__version__}, {device}",
            "job": {"profile": profile or device, **job},
            "metric": "median, fastest and slowest of the steps, most memory given out",
            "value": [statistics.median(times), min(times), max(times), memory],
            "unit": "s, s, s, bytes",
        })
        print(
            f"{name}: {statistics.median(times) * 1e3:.2f} ms ({min(times) * 1e3:.2f} to {max(times) * 1e3:.2f}, "
            f"{len(times)} steps), {memory / 2**30:.2f} GiB, in {time.monotonic() - start:.0f} s",
            file=sys.stderr,
        )
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"schema": "headway/published-sync/1", "rows": rows}, file, indent=1)
            file.write("\n")
    return 3 if failed else 0
