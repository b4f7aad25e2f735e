#!/usr/bin/env python3
"""Writes the README's table of errors over the published steps again, from what the program says.

usage: readme_table.py HEADWAY     (from the root of the tree; a minute)

A row of the table is kept where its name is one of GROUPS below; every row has to be.
"""

import json
import pathlib
import statistics
import subprocess
import sys

NVIDIAS = {"nemo", "nemo-mlperf", "megatron-bridge", "megatron-core-2024"}
MEGATRON_UNTIL_2022 = {"megatron-2020", "megatron-2021", "megatron-2022"}
FSDP = {"composer-fsdp", "torchtitan", "fms-fsdp", "automodel"}
CLUSTERS_OF_A100 = {"alephalpha_layouts", "bigscience", "internevo"}
HOPPER_AND_LATER = ("H", "B", "GB")

GROUPS = {
    "dense pre-training": lambda row: row["kind"] == "dense",
    "mixtures of experts": lambda row: row["kind"] == "moe",
    "fine-tuning, all parameters or adapters": lambda row: row["kind"] in ("sft", "lora"),
    "**all**": lambda row: True,
    "of them NVIDIA's software on H100 to GB300, dense": lambda row: row["kind"] == "dense"
    and row["framework"] in NVIDIAS
    and row["gpu"].startswith(HOPPER_AND_LATER),
    "Megatron-LM of 2019 to 2022 on V100 and A100": lambda row: row["framework"]
    in MEGATRON_UNTIL_2022,
    "PyTorch's FSDP (Composer, torchtitan, IBM, AutoModel)": lambda row: row["kind"] == "dense"
    and row["framework"] in FSDP,
    "Aleph Alpha, BigScience, InternEvo on A100": lambda row: row["source"] in CLUSTERS_OF_A100,
}


def predicted(headway, *options):
    command = [headway, "validate", "--json", "-q", *options]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [row for row in document["rows"] if row.get("predicted_s")]


def percent(errors):
    """Mean, median and worst absolute error, and the bias."""
    sizes = [abs(error) for error in errors]
    return (statistics.mean(sizes), statistics.median(sizes), max(sizes), statistics.mean(errors))


def table_row(name, in_sample, left_out):
    is_in = GROUPS[name]
    errors = [100 * row["error"] for row in in_sample if is_in(row)]
    mean, median, worst, bias = percent(errors)
    out_mean, _, _, out_bias = percent([100 * row["error"] for row in left_out if is_in(row)])
    bold = "**" if list(GROUPS).index(name) <= list(GROUPS).index("**all**") else ""
    return (
        f"| {name} | {len(errors)} | {mean:.1f} % | {median:.1f} % | {worst:.1f} % | {bias:+.1f} % "
        f"| {bold}{out_mean:.1f} %{bold} | {out_bias:+.1f} % |"
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    readme = pathlib.Path("README.md")
    in_sample = predicted(sys.argv[1])
    left_out = predicted(sys.argv[1], "--leave-out", "source")
    written = set()
    lines = readme.read_text().split("\n")
    for i, line in enumerate(lines):
        name = line.split("|")[1].strip() if line.startswith("| ") else ""
        if name in GROUPS:
            lines[i] = table_row(name, in_sample, left_out)
            written.add(name)
    if missing := set(GROUPS) - written:
        sys.exit(f"README.md has no row {', '.join(sorted(missing))}")
    readme.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
