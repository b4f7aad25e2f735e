#!/usr/bin/env python3
"""Says how fast attention is on accelerators whose kernels others measured.

usage: ship_attention_kernels.py FOLDER [CHIP...]

FOLDER holds CHIP-context_attention.csv.gz, the fused causal attention of ai-dynamo/aiconfigurator at
095f58a (Apache-2.0), forward: batch_size, isl, num_heads, num_key_value_heads, head_dim, latency in
milliseconds. The rate on long sequences, the length at which half of it is reached and what small
heads lose are those of fused_attention_cost (sim/costs/kernel_cost.h) that meet the logarithms of the
times best; they go into calibrate/profiles/accelerators. Taken are passes in bf16 whose query blocks
fill the device several times, with four and more queries to a key head: these kernels write keys and
values into the cache of an inference server as well, which those of training do not.

What is printed, and said in the files, is the error on a tenth of the passes, kept aside. Needs numpy
and scipy.
"""
import csv
import gzip
import json
import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares

from profile_text import path_of, profile_text

SOURCE = "ai-dynamo/aiconfigurator at 095f58a, fused causal attention, forward, TensorRT-LLM 1.3.0rc20"
PROFILE_OF = {"rtx_pro_6000_server": "rtx_pro_6000"}
# Of Ampere and Hopper the kernels that training runs are known (fit_constants.py, measured/).
CHIPS = ("b200_sxm", "b300_sxm", "gb200", "gb300", "l40s", "rtx_pro_6000_server")
FULL_HEAD = 128
BLOCK = 128  # queries that a multiprocessor takes at once
WAVES = 8  # of blocks at least
QUERIES_A_KEY = 4
ASIDE = 0.1


def passes_of(path, multiprocessors):
    """Sequences, length, heads, head size and seconds of each, a column each."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["attn_dtype"], row["kv_cache_dtype"], row["window_size"]) != ("bfloat16", "bfloat16", "0"):
                continue
            sequences, length, heads, key_heads, size = (
                float(row[key]) for key in ("batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim"))
            if (size <= FULL_HEAD and heads >= QUERIES_A_KEY * key_heads
                    and sequences * heads * np.ceil(length / BLOCK) >= WAVES * multiprocessors):
                rows.append((sequences, length, heads, size, 1e-3 * float(row["latency"])))
    return np.array(rows).T


def constants_of(passes, peak):
    """The three constants, and the errors on the passes kept aside."""
    sequences, length, heads, size, seconds = passes
    work = 2 * sequences * heads * length**2 * size  # causal: half of the square
    aside = np.random.default_rng(1).random(len(seconds)) < ASIDE

    def log_errors(x, mine):
        return (np.log(work[mine] / peak * (1 + np.exp(x[1]) / length[mine]) / seconds[mine])
                - x[0] - x[2] * np.log(size[mine] / FULL_HEAD))

    def met(mine):
        return least_squares(log_errors, (np.log(0.5), np.log(1000), 0.5), args=(mine,),
                             loss="soft_l1", f_scale=0.05).x

    errors = np.abs(np.exp(log_errors(met(~aside), aside)) - 1)
    efficiency, half, exponent = met(np.ones(len(seconds), bool))
    return (np.exp(efficiency), np.exp(half), max(0.0, exponent)), errors


def main():
    for chip in sys.argv[2:] or CHIPS:
        path = path_of(PROFILE_OF.get(chip, chip))
        profile = json.loads(path.read_text())
        device = profile["device"]
        peak = device["peak_flops_per_s"]["bf16"]["value"]
        passes = passes_of(pathlib.Path(sys.argv[1]) / f"{chip}-context_attention.csv.gz",
                           device["multiprocessors"]["value"])
        (efficiency, half, exponent), errors = constants_of(passes, peak)
        middle, high = np.quantile(errors, (0.5, 0.9))
        held_out = (f"median {100 * middle:.1f} %, nine in ten within {100 * high:.1f} %, of "
                    f"{len(errors)} passes kept aside of {passes.shape[1]}")
        spread = float(f"{high / 1.645:.2g}")
        for key, value, about in (
                ("attention_efficiency", efficiency, held_out),
                ("attention_sequence_half", half, "the length at which half of that is reached"),
                ("attention_head_exponent", exponent, "heads of 64 beside those of 128")):
            device[key] = {"value": float(f"{value:.3g}"), "spread": spread,
                           "source": f"{SOURCE}; {about}"}
        path.write_text(profile_text(profile))
        print(f"{chip:20s} {efficiency:.3f} of the peak, half of it at {half:.0f}, head exponent "
              f"{exponent:.2f}: {held_out}", flush=True)


if __name__ == "__main__":
    main()
