#!/usr/bin/env python3
"""How far NCCL's constants are off inside one node, by size of the message.

usage: one_node_bands.py TABLES.json SWEEPS.json

Holds the constants of published profiles (their part "nccl") against the tables that they were
fitted to (fit_one_node_collectives.py), against the same tables with the constants of the others of
its generation in the place of an accelerator's own, and against sweeps of one node up to 16 GiB
that nobody fitted them to. Prints points, median error and bias of four bands.
"""

import json
import statistics
import sys

from fit_one_node_collectives import FAMILY_OF, TABLES, rows_of
from profile_text import path_of

LOW_SHARE = 0.40  # kNcclLowLatencyShare
FILLED_FROM = 2**28  # kNcclFilledFrom
BANDS = [("<= 64 KiB", 2**16), ("between", 2**24 - 1), (">= 16 MiB", 2**30 - 1), (">= 1 GiB", 2**63)]
GENERATIONS = (("h100", "h200"), ("b200", "b300", "gb200", "gb300"), ("a100",))
SWEEPS = {  # of one node: the accelerator, whether its switches reduce there
    "0013": ("h100", True), "0225": ("h200", True), "0226": ("b200", True), "0245": ("h200", True),
    "0182": ("h100", False), "0183": ("h100", False), "0184": ("h100", False),
    "0243": ("a100", False), "0230": ("a100", False), "0234": ("a100", False),
    "0016": ("gb200", True)}
KEYS = ("overhead_s", "step_s", "simple_overhead_s", "ring_bytes_per_s", "switch_overhead_s",
        "switch_bytes_per_s", "large_ring_bytes_per_s", "large_switch_bytes_per_s")


def constants_of(family):
    """As the profile has them; rates over the data sheet's."""
    profile = next(name for name, its in FAMILY_OF.items() if its == family)
    nccl = json.loads(path_of(profile).read_text())["nccl"]
    sheet = 1e9 * TABLES[family][1]
    nccl.setdefault("large_ring_bytes_per_s", nccl["ring_bytes_per_s"])
    if "switch_bytes_per_s" in nccl:
        nccl.setdefault("large_switch_bytes_per_s", nccl["switch_bytes_per_s"])
    return {key: nccl[key] / (sheet if "bytes" in key else 1.0) for key in KEYS if key in nccl}


def kin_of(family, constants):
    """The medians of the others of its generation; of all others if there are none."""
    mates = next(mates for mates in GENERATIONS if family in mates)
    others = [one for one in mates if one != family] or [one for one in TABLES if one != family]
    return {key: statistics.median(constants[one][key] for one in others if key in constants[one])
            for key in KEYS if any(key in constants[one] for one in others)}


def predicted(constants, family, has_switch, operation, ranks, size):
    sheet = 1e9 * TABLES[family][1]
    steps = (2 if operation == "all_reduce" else 1) * (ranks - 1)
    start = constants["overhead_s"] + steps * constants["step_s"]
    below, beyond = min(size, FILLED_FROM), max(0, size - FILLED_FROM)

    def transfer(part, kind):
        return part / sheet * (below / constants[f"{kind}_bytes_per_s"] +
                               beyond / constants[f"large_{kind}_bytes_per_s"])

    sent = steps / ranks
    times = [start + sent * size / (LOW_SHARE * constants["ring_bytes_per_s"] * sheet),
             start + constants["simple_overhead_s"] + transfer(sent, "ring")]
    if has_switch and operation == "all_reduce" and ranks > 2 and "switch_bytes_per_s" in constants:
        times.append(constants["overhead_s"] + constants["switch_overhead_s"] +
                     transfer(1.0, "switch"))
    return min(times)


def sweep_rows(sweep):
    """(operation, ranks, bytes, microseconds); from the bus bandwidth where no time is given."""
    columns = sweep["columns"]
    ranks = sweep["ranks"] or 8
    passes = 2 if sweep["op"] == "all_reduce" else 1
    for row in sweep["rows"]:
        values = dict(zip(columns, row))
        bus = values["oop_busbw_GBps"] or values.get("ip_busbw_GBps")
        time = values["oop_time_us"]
        if not time and bus:
            time = passes * (ranks - 1) / ranks * values["size_B"] / 1e3 / bus
        if values["size_B"] > 0 and time:
            yield sweep["op"], ranks, values["size_B"], time


def line(label, errors):
    """`errors`: (bytes, relative error)"""
    cells, least = [], 0
    for _, most in BANDS:
        band = [error for size, error in errors if least < size <= most]
        least = most
        cells.append(f"{len(band):6} {100 * statistics.median(map(abs, band)):5.1f} "
                     f"{100 * statistics.median(band):+6.1f}" if band else " " * 20)
    print(f"{label:34}" + " |".join(cells))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    with open(sys.argv[2], encoding="utf-8") as file:
        sweeps = {sweep["id"][-4:]: sweep for sweep in json.load(file)}
    constants = {family: constants_of(family) for family in TABLES}
    print(f"{'points, median error %, bias %':34}" + " |".join(f"{name:>20}" for name, _ in BANDS))
    together = {"own": [], "left out": []}
    for family, (table, _, has_switch) in TABLES.items():
        rows = rows_of(tables, table)
        for which, used in (("own", constants[family]), ("left out", kin_of(family, constants))):
            errors = [(row[2], 1e6 * predicted(used, family, has_switch, *row[:3]) / row[3] - 1)
                      for row in rows]
            together[which] += errors
            line(f"{family}, {which}", errors)
    for which, errors in together.items():
        line(f"all, {which}", errors)
    all_sweeps = []
    for number, (family, has_switch) in SWEEPS.items():
        errors = [(size, 1e6 * predicted(constants[family], family, has_switch, operation, ranks,
                                         size) / time - 1)
                  for operation, ranks, size, time in sweep_rows(sweeps[number])]
        all_sweeps += errors
        sweep = sweeps[number]
        line(f"{family} {sweep['op']} of {sweep['ranks']}, sweep {number}", errors)
    line("all sweeps", all_sweeps)


if __name__ == "__main__":
    main()
