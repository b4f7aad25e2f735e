#!/usr/bin/env python3
"""Puts NCCL's collectives as others measured them inside one node into the published profiles.

usage: ship_one_node_collectives.py TABLES.json

TABLES.json holds the one-node NCCL tables of ai-dynamo/aiconfigurator at 095f58a (2, 4 and 8
accelerators), of which those that fit_one_node_collectives.py fits are taken: 16-bit elements, the
median of repeats, 16 KiB to 512 MiB. They hold on links of the bandwidth they were measured on.
"""

import json
import sys

from fit_one_node_collectives import FAMILY_OF, TABLES, rows_of
from profile_text import path_of, profile_text

LEAST_BYTES = 16384
SPREAD = 0.03  # two releases of NCCL differ by no more in 68 of 100 cases from 1 MiB (16 tables)


def curves(rows, source):
    points = {}
    for operation, ranks, size, time_us in rows:
        if size >= LEAST_BYTES:
            points.setdefault((operation, ranks), []).append(
                {"message_bytes": size, "time_s": float(f"{time_us * 1e-6:.4g}")})
    return [{"kind": operation, "ranks": ranks, "spread": SPREAD, "source": source,
             "points": of_curve} for (operation, ranks), of_curve in sorted(points.items())]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    for name, family in FAMILY_OF.items():
        table, bandwidth, _ = TABLES[family]
        path = path_of(name)
        profile = json.loads(path.read_text())
        source = f"ai-dynamo/aiconfigurator at 095f58a, table {table.removeprefix('aic-')}"
        profile["scale_up"]["measured_bandwidth"] = f"{bandwidth} GB/s"
        profile["scale_up"]["collectives"] = curves(rows_of(tables, table), source)
        path.write_text(profile_text(profile))


if __name__ == "__main__":
    main()
