#!/usr/bin/env python3
"""Prints what an anchor is worth on software that no fit has seen.

usage: fit.py ... --report REPORT.json; anchor_scatter.py REPORT.json

Each source is predicted with constants fitted to the other ones. Two configurations of one model on
one accelerator then stand for a measured job and the one that is asked for: the anchor leaves the
difference of their errors. Groups of near-identical rows count once, each source as much as another.
The standard deviations are those of normal errors whose 90th percentile of |error| is the same.
"""

import collections
import itertools
import json
import math
import statistics
import sys

QUANTILE_95 = 1.645


def scatter(of_sources):
    """Mean and standard deviation of the lists, one a source."""
    weighted = sorted((value, 1 / len(values)) for values in of_sources for value in values)
    total = sum(weight for _, weight in weighted)
    mean = sum(value * weight for value, weight in weighted) / total
    below = 0.0
    for value, weight in weighted:
        below += weight
        if below >= 0.9 * total:
            return mean, value / QUANTILE_95
    raise AssertionError("nine tenths are less than all")


def main():
    errors = collections.defaultdict(lambda: collections.defaultdict(
        lambda: collections.defaultdict(list)))
    with open(sys.argv[1], encoding="utf-8") as file:
        for row in json.load(file)["rows"]:
            kind = row["kind"] if row["kind"] == "experts" else "others"
            job = tuple(row["group"].split("|")[:2])  # the model's size, the accelerator
            errors[kind][row["source"], job][row["group"]].append(math.log1p(row["unseen_source"]))
    print(f"{'kind':8} {'sources':>7} {'pairs':>6} {'alone: mean':>12} {'sd':>6}"
          f" {'anchored: mean':>15} {'sd':>6}")
    for kind, jobs in sorted(errors.items()):
        alone, anchored = collections.defaultdict(list), collections.defaultdict(list)
        for (source, _), groups in jobs.items():
            of_groups = [statistics.mean(members) for members in groups.values()]
            if len(of_groups) < 2:
                continue
            alone[source] += map(abs, of_groups)
            anchored[source] += (abs(one - other)
                                 for one, other in itertools.combinations(of_groups, 2))
        before, after = scatter(alone.values()), scatter(anchored.values())
        print(f"{kind:8} {len(alone):7} {sum(map(len, anchored.values())):6} {before[0]:12.3f}"
              f" {before[1]:6.3f} {after[0]:15.3f} {after[1]:6.3f}")


if __name__ == "__main__":
    main()
