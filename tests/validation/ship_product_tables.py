#!/usr/bin/env python3
"""Makes tables of matrix products for the published profiles from products that others measured.

usage: ship_product_tables.py FOLDER [CHIP...]

FOLDER holds CHIP-gemm.csv.gz, the dense products of ai-dynamo/aiconfigurator at 095f58a (Apache-2.0),
trimmed: gemm_dtype, m, n, k, latency in milliseconds. A table holds, at the nodes of a grid of sizes,
the factor by which products differ from the formula that sim/costs/product_table.h stands beside: the
grid whose linear interpolation in logarithms is nearest to all products in squares, smooth where few
were measured. Of the three shares of wave quantisation that were tried, the best is taken. The grid is
finer for chips that a coarse one misses and that no constant was fitted with: others' constants were
fitted beside the tables they have.

Products of 8 and 4 bits were measured with the quantising of their left operand, which the profile
prices apart: what a product of the fewest columns takes beyond its own bytes is taken off all of the
same m and k. Few columns tell little of the rest, so these tables are smooth in their difference to
that of 16 bits, and near it.

What is printed, and said in the files, is the error on a tenth of the products, kept aside, of tables
made without them. Needs numpy and scipy.
"""
import csv
import gzip
import json
import pathlib
import sys

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from profile_text import PROFILES, line, path_of

SOURCE = "ai-dynamo/aiconfigurator at 095f58a, systems/data, TensorRT-LLM {release}"
RELEASE = {"a100_sxm": "1.0.0"}
PROFILE_OF = {"a100_sxm": "a100_sxm_80gb", "rtx_pro_6000_server": "rtx_pro_6000"}
# Weight-only and SmoothQuant products are of inference, and block-scaled fp8 has no profile field.
PRECISIONS = {"bfloat16": "bf16", "fp8": "fp8", "nvfp4": "fp4"}
BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}  # an element of an operand; results have 2
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 65536)
FINER_SIZES = (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 65536)
COARSE = ((512, 1024, 2048, 4096, 8192, 32768), SIZES, SIZES)
FINE = ((512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768), FINER_SIZES, FINER_SIZES)
FINER = {"l40s", "rtx_pro_6000_server"}
LARGE = 4096  # from here on in every size, products tell the efficiency
QUANTISATIONS = (0.0, 0.3, 0.6)
WORST_QUANTISATION = 8.0
SMOOTHNESS = 0.3  # weight of a second difference between nodes, beside one measured product
NEARNESS = 0.05  # the same of a node's difference to that of 16 bits
LEAST_SECONDS = 4e-6  # of any product, launched and ended
TELLING = 0.1  # share of a measured time that has to be the product's own
ASIDE = 0.1


def products_of(path):
    """{precision: array of m, n, k, seconds}."""
    products = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["gemm_dtype"] in PRECISIONS:
                products.setdefault(PRECISIONS[row["gemm_dtype"]], []).append(
                    [*(float(row[key]) for key in ("m", "n", "k")), 1e-3 * float(row["latency"])])
    return {precision: np.array(rows) for precision, rows in products.items()}


def quantising(products, formula):
    """Seconds that each of these spends on its left operand before the product."""
    fewest = products[products[:, 1] == products[:, 1].min()]
    own = np.maximum(formula.seconds(fewest, 0.5, 0.0), LEAST_SECONDS)
    seconds = {(m, k): time for (m, _, k, _), time in
               zip(fewest, np.maximum(fewest[:, 3] - own, 0.0))}
    return np.array([seconds.get((m, k), np.nan) for m, _, k, _ in products])


class Formula:
    """The formula of gemm_cost beside a table, for one accelerator and precision."""

    def __init__(self, device, precision):
        self.peak = device["peak_flops_per_s"][precision]["value"]
        self.bandwidth = device["memory_bandwidth_bytes_per_s"]["value"]
        self.multiprocessors = device["multiprocessors"]["value"]
        self.bytes = BYTES[precision]

    def efficiency(self, products):
        m, n, k, time = products[products[:, :3].min(axis=1) >= LARGE].T
        return float(np.median(2 * m * n * k / (time * self.peak)))

    def seconds(self, products, efficiency, quantisation):
        m, n, k = products[:, :3].T
        tiles = np.ceil(m / 128) * np.ceil(n / 256)
        waves = np.ceil(tiles / self.multiprocessors) * self.multiprocessors * 128 * 256 / (m * n)
        work = 2 * m * n * k / (self.peak * efficiency)
        work *= 1 + quantisation * (np.minimum(waves, WORST_QUANTISATION) - 1)
        traffic = self.bytes * (m * k + k * n) + 2 * m * n
        return np.maximum(work, traffic / self.bandwidth)


def weights(products, nodes):
    """How much of each node a product takes, a product a row."""
    count = len(products)
    columns, shares = [np.zeros(count, int)], [np.ones(count)]
    for axis, of_axis in enumerate(nodes):
        logs = np.log(np.array(of_axis, float))
        at = np.clip(np.log(products[:, axis]), logs[0], logs[-1])
        first = np.clip(np.searchsorted(logs, at, side="right") - 1, 0, len(logs) - 2)
        share = (at - logs[first]) / (logs[first + 1] - logs[first])
        columns = [c * len(logs) + first + step for c in columns for step in (0, 1)]
        shares = [s * part for s in shares for part in (1 - share, share)]
    return sparse.csr_matrix((np.concatenate(shares), (np.tile(np.arange(count), len(columns)),
                                                       np.concatenate(columns))),
                             shape=(count, int(np.prod([len(n) for n in nodes]))))


def second_differences(nodes):
    numbers = np.arange(int(np.prod([len(n) for n in nodes]))).reshape([len(n) for n in nodes])
    parts = []
    for axis in range(3):
        along = np.moveaxis(numbers, axis, 0)
        three = [along[:-2].ravel(), along[1:-1].ravel(), along[2:].ravel()]
        count = len(three[0])
        values = np.concatenate([np.full(count, SMOOTHNESS * f) for f in (1, -2, 1)])
        parts.append(sparse.csr_matrix((values, (np.tile(np.arange(count), 3),
                                                 np.concatenate(three))),
                                       shape=(count, numbers.size)))
    return sparse.vstack(parts)


def fitted(products, log_factors, shares, nodes, like):
    """Log factors at the nodes, smooth in their difference to those of `like` (None: by themselves).
    `shares`: of what was measured, that is the product's own: so far its error counts."""
    smooth = second_differences(nodes)
    grid = weights(products, nodes)
    count = grid.shape[1]
    near = sparse.identity(count, format="csr") * NEARNESS
    if like is None:
        like, near = np.zeros(count), near[:0]
    difference = lsqr(sparse.vstack([sparse.diags(shares) @ grid, smooth, near]),
                      np.concatenate([shares * (log_factors - grid @ like),
                                      np.zeros(smooth.shape[0] + near.shape[0])]),
                      iter_lim=2000)[0]
    return like + difference


def table_of(products, formula, like, grid):
    """The table, and the log factors at its nodes. `like`: those of 16 bits, for fewer bits."""
    spent = np.zeros(len(products)) if like is None else quantising(products, formula)
    known = (products[:, :3].min(axis=1) >= SIZES[0]) & ~np.isnan(spent)
    products, spent = products[known], spent[known]
    own = np.column_stack([products[:, :3], products[:, 3] - spent])
    shares = own[:, 3] / products[:, 3]
    telling = shares >= TELLING
    nodes = (tuple(m for m in grid[0] if m <= products[:, 0].max()), *grid[1:])
    efficiency = formula.efficiency(own[telling])
    aside = np.random.default_rng(1).random(len(products)) < ASIDE
    used = telling & ~aside
    best = None
    for quantisation in QUANTISATIONS:
        formulas = formula.seconds(products, efficiency, quantisation)
        logs = np.log(own[telling][:, 3] / formulas[telling])
        kept = fitted(own[used], logs[~aside[telling]], shares[used], nodes, like)
        said = spent[aside] + formulas[aside] * np.exp(weights(products[aside], nodes) @ kept)
        errors = np.abs(said / products[aside][:, 3] - 1)
        if best is None or np.quantile(errors, 0.9) < np.quantile(best[0], 0.9):
            best = errors, quantisation, logs
    errors, quantisation, logs = best
    median, high = np.quantile(errors, 0.5), np.quantile(errors, 0.9)
    log_factors = fitted(own[telling], logs, shares[telling], nodes, like)
    table = {"efficiency": round(efficiency, 4), "quantisation": quantisation,
             "spread": round(float(high) / 1.645, 3),
             "held_out": f"median {100 * median:.1f} %, nine in ten within {100 * high:.1f} %, of "
                         f"{int(aside.sum())} products kept aside of {len(products)}",
             "m": list(nodes[0]), "n": list(nodes[1]), "k": list(nodes[2]),
             "factors": [float(f"{factor:.3g}") for factor in np.exp(log_factors)]}
    return table, log_factors


def table_text(table):
    rows = len(table["n"]) * len(table["k"])
    factors = [line(table["factors"][i:i + rows])[1:-1]
               for i in range(0, len(table["factors"]), rows)]
    said = ",\n".join(f"      {json.dumps(key)}: {line(value)}" for key, value in table.items()
                      if key != "factors")
    return "{\n" + said + ',\n      "factors": [\n        ' + ",\n        ".join(factors) + "\n      ]\n    }"


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*-gemm.csv.gz")):
        chip = path.name.removesuffix("-gemm.csv.gz")
        if sys.argv[2:] and chip not in sys.argv[2:]:
            continue
        name = PROFILE_OF.get(chip, chip)
        device = json.loads(path_of(name).read_text())["device"]
        tables, of_16_bits = {}, None
        for precision, products in products_of(path).items():
            tables[precision], log_factors = table_of(products, Formula(device, precision),
                                                      of_16_bits, FINE if chip in FINER else COARSE)
            if precision == "bf16":  # first in every file
                of_16_bits = log_factors
            print(f"{chip:20s} {precision:5s} {tables[precision]['efficiency']:.3f} of the peak, "
                  f"{tables[precision]['held_out']}", flush=True)
        text = ",\n".join(f"    {json.dumps(p)}: {table_text(t)}" for p, t in tables.items())
        source = SOURCE.format(release=RELEASE.get(chip, "1.3.0rc20"))
        (PROFILES / "kernels" / f"{chip}.json").write_text(
            '{\n  "schema": "headway/kernels/1",\n'
            f'  "source": {json.dumps(source)},\n  "licence": "Apache-2.0",\n'
            f'  "products": {{\n{text}\n  }}\n}}\n')


if __name__ == "__main__":
    main()
