#!/usr/bin/env python3
"""Prints how far predictions of one source scatter once one factor for the source is known.

usage: headway validate --json -q | anchor_scatter.py

Groups of near-identical rows count once. A source needs three groups to say anything. The standard
deviations are those of normal errors with the same mean of |error|: sqrt(pi/2) times it.
"""

import collections
import json
import math
import statistics
import sys


def main():
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in json.load(sys.stdin)["rows"]:
        if "predicted_s" in row:
            groups[row["source"]][row["group"]].append(
                math.log(row["predicted_s"] / row["published_s"]))
    before, after = [], []
    print(f"{'source':22} {'groups':>6} {'before %':>9} {'after %':>8}")
    for source, members in sorted(groups.items()):
        errors = [statistics.mean(member) for member in members.values()]
        if len(errors) < 3:
            continue
        factor = statistics.median(errors)
        before.append(statistics.mean(abs(error) for error in errors))
        after.append(statistics.mean(abs(error - factor) for error in errors))
        print(f"{source:22} {len(errors):6} {100 * before[-1]:9.1f} {100 * after[-1]:8.1f}")
    residual = statistics.median(after)
    print(f"{'median over sources':22} {'':6} {100 * statistics.median(before):9.1f} "
          f"{100 * residual:8.1f}")
    one = math.sqrt(math.pi / 2) * residual
    print(f"standard deviation of one residual {one:.3f}, of the difference of two "
          f"{math.sqrt(2) * one:.3f}")


if __name__ == "__main__":
    main()
