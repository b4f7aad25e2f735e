#!/usr/bin/env python3
"""Finds what two jobs share of what their predictions are off by, for sim/predict/shared_error.cpp.

usage: headway validate --anchors --leave-out source -o PAIRS.json; anchor_scatter.py PAIRS.json

Errors are logarithms of the factor on software that explains a published step. Of two of one source
and accelerator the one is taken to be s times the other plus a part of its own, which is as wide as
the errors are in general times sqrt(1 - s^2), where s is what alike jobs share times what each
difference leaves of it. The numbers are those under which the published steps are most likely (Laplace
distributions, as errors have long tails), each row counting once; with each source left out in turn,
too. What another model leaves is found last, on pairs that differ in that.
"""

import collections
import json
import math
import sys

DIFFERENCES = ("kernels", "release", "pipeline", "micro_batch", "exchange_of_experts")
STEPS = 50  # to 1
# model_error of sim/predict/interval.cpp
WIDTHS = {"dense": 0.084, "moe": 0.156, "lora": 0.099, "sft": 0.099}
LAPLACE_OF_NORMAL = 1.645 / math.log(10)  # the scale whose 90 % lie as far out


def pairs_of(rows, with_other_models):
    """{(source, differences): [(error, the other one's, weight)]}, errors in widths of their kind."""
    alike = collections.defaultdict(list)
    for row in rows:
        if row.get("software_factor"):
            is_mixture = row["kind"] == "moe"
            alike[row["source"], row["gpu"], is_mixture].append(row)
    pairs = collections.defaultdict(list)
    for (source, _, _), members in alike.items():
        for asked in members:
            others = [row for row in members if row is not asked
                      and (row["model"] != asked["model"]) == with_other_models]
            for other in others:
                differ = tuple(name for name in DIFFERENCES if asked[name] != other[name])
                width = LAPLACE_OF_NORMAL * WIDTHS[asked["kind"]]
                pairs[source, differ].append((math.log(asked["software_factor"]) / width,
                                              math.log(other["software_factor"]) / width,
                                              1 / len(others)))
    return pairs


class Costs:
    """Minus the logarithms of likelihoods, by pairs that differ in the same."""

    def __init__(self, pairs):
        self.pairs = pairs
        self.known = {}

    def of(self, key, share):
        share = round(min(share, 0.999), 3)
        if (key, share) not in self.known:
            own = math.sqrt(1 - share * share)
            self.known[key, share] = sum(weight * (abs(error - share * other) / own + math.log(own))
                                         for error, other, weight in self.pairs[key])
        return self.known[key, share]


def share_of(left, differ):
    share = left["alike"]
    for name in differ:
        share *= left[name]
    return share


def fitted(costs, without=None):
    left = dict.fromkeys(("alike",) + DIFFERENCES, 0.8)
    keys = [key for key in costs.pairs if key[0] != without]
    for _ in range(10):
        before = dict(left)
        for name in left:
            def cost(value, name=name):
                left[name] = value
                return sum(costs.of(key, share_of(left, key[1])) for key in keys)
            left[name] = min((step / STEPS for step in range(STEPS + 1)), key=cost)
        if left == before:
            break
    return left


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    costs = Costs(pairs_of(rows, with_other_models=False))
    left = fitted(costs)
    sources = sorted({source for source, _ in costs.pairs})
    print(f"{'':24}" + "".join(f"{name:>21}" for name in left))
    print(f"{'all':24}" + "".join(f"{value:21.2f}" for value in left.values()))
    for source in sources:
        of_others = fitted(costs, source)
        print(f"without {source:16.16}" + "".join(f"{value:21.2f}" for value in of_others.values()))
    across = Costs(pairs_of(rows, with_other_models=True))
    model = min((step / STEPS for step in range(STEPS + 1)), key=lambda value: sum(
        across.of(key, value * share_of(left, key[1])) for key in across.pairs))
    print(f"another model leaves {model:.2f}")


if __name__ == "__main__":
    main()
