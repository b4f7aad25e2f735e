#!/usr/bin/env python3
"""Fits how NCCL's collectives behave inside one node: the part "nccl" of published profiles.

usage: fit_one_node_collectives.py TABLES.json [--write]

TABLES.json holds the one-node NCCL tables of ai-dynamo/aiconfigurator (2, 4 and 8 accelerators,
512 B to 512 MiB). An operation of k steps that sends v bytes an accelerator takes the least of

    overhead + k step + v / (low_share rate)             protocols of low latency (LL, LL128)
    overhead + simple + k step + v / rate                protocol Simple
    overhead + switch + message / switch_rate            all-reduce in the switches (NVLS)

`low_share` is common to all accelerators. Minimised is the mean absolute logarithm of predicted
over measured time, by a pattern search that draws nothing, so that it always ends the same.
Nothing that crosses a network is in these tables.
"""

import json
import math
import sys

from profile_text import path_of, profile_text

TABLES = {  # accelerator: the table, data-sheet bandwidth one way (GB/s), whether switches reduce
    "a100": ("aic-a100_sxm-nccl-2.27.3", 300, False),
    "h100": ("aic-h100_sxm-nccl-2.27.3", 450, True),
    "h200": ("aic-h200_sxm-nccl-2.29.2", 450, True),
    "b200": ("aic-b200_sxm-nccl-2.28.9", 900, True),
    "b300": ("aic-b300_sxm-nccl-2.29.2", 900, True),
    "gb200": ("aic-gb200-nccl-2.29.2", 900, True),
    "gb300": ("aic-gb300-nccl-2.29.2", 900, True),
}
FAMILY_OF = {"a100_sxm_40gb": "a100", "a100_sxm_80gb": "a100", "h100_sxm": "h100",
             "h200_sxm": "h200", "b200_sxm": "b200", "b300_sxm": "b300", "gb200": "gb200",
             "gb300": "gb300"}
OPERATIONS = ("all_gather", "reduce_scatter", "all_reduce")
NAMES = ("overhead_us", "step_us", "simple_us", "rate_GBps", "switch_us", "switch_rate_GBps")


def rows_of(tables, wanted):
    """(operation, accelerators, bytes, microseconds) of 16-bit elements, the median of repeats."""
    times = {}
    for table in tables:
        if table["id"] != wanted:
            continue
        for values in table["rows"]:
            row = dict(zip(table["columns"], values))
            if row["nccl_dtype"] == "half" and row["op_name"] in OPERATIONS:
                key = (row["op_name"], row["num_gpus"], 2 * row["message_size"])
                times.setdefault(key, []).append(1e3 * row["latency"])
    return [(*key, sorted(values)[len(values) // 2]) for key, values in sorted(times.items())]


def predicted(constants, low_share, has_switch, operation, ranks, size):
    overhead, step, simple, rate, switch, switch_rate = constants
    passes = 2 if operation == "all_reduce" else 1
    steps = passes * (ranks - 1)
    sent = steps / ranks * size / 1e3  # over GB/s: microseconds
    times = [overhead + steps * step + sent / (low_share * rate),
             overhead + simple + steps * step + sent / rate]
    if has_switch and operation == "all_reduce" and ranks > 2:
        times.append(overhead + switch + size / 1e3 / switch_rate)
    return min(times)


def error(constants, low_share, has_switch, rows):
    return sum(abs(math.log(predicted(constants, low_share, has_switch, *row[:3]) / row[3]))
               for row in rows) / len(rows)


def fitted(rows, low_share, bandwidth, has_switch):
    constants = [7.0, 1.0, 15.0, 0.65 * bandwidth, 40.0, 0.5 * bandwidth]
    best, factor = error(constants, low_share, has_switch, rows), 1.5
    while factor > 1.002:
        improved = False
        for i in range(len(constants)):
            for change in (factor, 1.0 / factor):
                trial = constants[:i] + [constants[i] * change] + constants[i + 1:]
                value = error(trial, low_share, has_switch, rows)
                if value < best:
                    best, constants, improved = value, trial, True
        if not improved:
            factor = math.sqrt(factor)
    return best, constants


def write(name, constants):
    """Into the profile of an accelerator."""
    table, _, has_switch = TABLES[FAMILY_OF[name]]
    micro, giga = 1e-6, 1e9
    overhead, step, simple, rate, switch, switch_rate = (round(value, 2) for value in constants)
    nccl = {"source": f"fit_one_node_collectives.py to {table.removeprefix('aic-')} "
                      "(ai-dynamo/aiconfigurator at 095f58a)",
            "overhead_s": number(overhead * micro), "step_s": number(step * micro),
            "simple_overhead_s": number(simple * micro), "ring_bytes_per_s": number(rate * giga)}
    if has_switch:
        nccl["switch_overhead_s"] = number(switch * micro)
        nccl["switch_bytes_per_s"] = number(switch_rate * giga)
    profile = json.loads(path_of(name).read_text())
    # Rates of larger messages than the tables have are published by others.
    for key in ("large_ring_bytes_per_s", "large_switch_bytes_per_s"):
        if key in profile.get("nccl", {}):
            nccl[key] = profile["nccl"][key]
    profile["nccl"] = nccl
    path_of(name).write_text(profile_text(profile))


def number(value):
    return float(f"{value:.6g}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    rows = {name: rows_of(tables, table) for name, (table, _, _) in TABLES.items()}
    trials = []
    for percent in range(20, 70, 5):
        fits = {name: fitted(rows[name], percent / 100, bandwidth, has_switch)
                for name, (_, bandwidth, has_switch) in TABLES.items()}
        trials.append((sum(fit[0] for fit in fits.values()) / len(fits), percent / 100, fits))
    mean, low_share, fits = min(trials, key=lambda trial: trial[0])
    print(f"low_share {low_share:.2f}, mean error {100 * mean:.1f} %")
    for name, (value, constants) in fits.items():
        numbers = ", ".join(f"{key} {number:.2f}" for key, number in zip(NAMES, constants))
        print(f"{name}: {numbers}; {len(rows[name])} rows, error {100 * value:.1f} %")
    if "--write" in sys.argv[2:]:
        for name, family in FAMILY_OF.items():
            write(name, fits[family][1])


if __name__ == "__main__":
    main()
