#!/usr/bin/env python3
"""Prints what an anchor is worth on software that no fit has seen.

usage: fit.py ... --report REPORT.json; anchor_scatter.py REPORT.json

Each source is predicted with constants fitted to the other ones. Two configurations of one model on
one accelerator then stand for a measured job and the one that is asked for: the anchor takes a share of
the measured job's error off the other one's, by least squares that which both have, and what is printed
is left, with all of it and with that share. Groups of near-identical rows count once, each source as much as another.
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
          f" {'anchored: mean':>15} {'sd':>6} {'share':>6} {'mean':>6} {'sd':>6}")
    for kind, jobs in sorted(errors.items()):
        alone, pairs = collections.defaultdict(list), collections.defaultdict(list)
        for (source, _), groups in jobs.items():
            of_groups = [statistics.mean(members) for members in groups.values()]
            if len(of_groups) < 2:
                continue
            alone[source] += map(abs, of_groups)
            pairs[source] += itertools.permutations(of_groups, 2)
        share = (sum(statistics.mean(one * other for one, other in of) for of in pairs.values())
                 / sum(statistics.mean(one * one for one, _ in of) for of in pairs.values()))

        def left(part):
            return scatter([abs(other - part * one) for one, other in of_source]
                           for of_source in pairs.values())

        before, whole, shared = scatter(alone.values()), left(1.0), left(share)
        print(f"{kind:8} {len(alone):7} {sum(map(len, pairs.values())) // 2:6} {before[0]:12.3f}"
              f" {before[1]:6.3f} {whole[0]:15.3f} {whole[1]:6.3f} {share:6.2f} {shared[0]:6.3f}"
              f" {shared[1]:6.3f}")


if __name__ == "__main__":
    main()
