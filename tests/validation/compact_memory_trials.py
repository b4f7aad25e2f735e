#!/usr/bin/env python3
"""Makes scenarios/validation/memory_trials.json out of the published trials that ran out of memory.

usage: compact_memory_trials.py TRIALS.json COMPACT.json

The sheets give layout, micro-batch, recomputation and kernel; the paper (arXiv:2311.05610) gives
the rest: ZeRO-1, a vocabulary of 128,000, and a global batch of 2048 sequences of 2048 tokens or of
512 of 8192. Trials whose kernel was not available say nothing about memory and are left out. The
form is that of published_steps.json, with "result" in the place of the time.
"""

import json
import sys

MODELS = {  # layers, hidden, heads, ffn: Touvron et al. 2023 (arXiv:2302.13971), table 2
    "LLAMA 13B": (40, 5120, 40, 13824),
    "LLAMA 30B": (60, 6656, 52, 17920),
    "LLAMA 65B": (80, 8192, 64, 22016),
}
GLOBAL_BATCH = {2048: 2048, 8192: 512}

# The kernel of a trial, as releases of the software are called in published_steps.json.
RELEASES = {
    "flash_attention2 + RMS kernel": "rms",
    "flash_attention2": "fa2",
    "flash_attentionv1.0.8": "fa1",
    "flash_attention": "fa1",
    "fused": "fused",
    "torch": "torch",
}
RECOMPUTE = {"none": "none", "full (every layer)": "full"}

TRAIN_UNLESS_SAID = {
    "task": "pretrain",
    "precision": "bf16",
    "fsdp": "none",
    "distributed_optimizer": True,
    "sequence_parallel": False,
    "recompute": "none",
    "flash": True,
}
COLUMNS = ["id", "group", "source", "line", "framework", "release", "gpu", "gpus",
           "nvlink_domain", "nic_GBps_per_gpu", "model", "train", "result"]


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def model_of(name, sequence):
    layers, hidden, heads, ffn = MODELS[name]
    return {"name": name, "kind": "dense", "layers": layers, "hidden": hidden, "heads": heads,
            "kv_heads": heads, "head_dim": hidden // heads, "ffn": ffn, "gated": True,
            "vocab": 128000, "seq": sequence}


def train_of(trial):
    train = {"tp": trial["tp"], "pp": trial["pp"], "dp": trial["dp"],
             "micro_batch": trial["micro_batch"], "global_batch": GLOBAL_BATCH[trial["seq_len"]],
             "sequence_parallel": trial["sequence_parallel"] == "1",
             "recompute": RECOMPUTE[trial["recompute"]],
             "flash": "flash" in trial["kernel"]}
    return {key: value for key, value in train.items() if TRAIN_UNLESS_SAID.get(key) != value}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        full = json.load(file)
    files = sorted({trial["file"] for trial in full["rows"]})
    keys = {path: f"alephalpha_layouts-{i + 1}" for i, path in enumerate(files)}
    sources = {keys[path]: {"key": "alephalpha_layouts",
                            "title": "Efficient Parallelization Layouts for Large-Scale "
                                     "Distributed Model Training (raw result sheets)",
                            "repo": full["meta"]["repo"], "path": path,
                            "commit": full["meta"]["commit"],
                            "url": "https://arxiv.org/abs/2311.05610"} for path in files}
    models, rows = {}, []
    for trial in full["rows"]:
        if trial["result"] != "OOM Error":
            continue
        model = f"{trial['model']} {trial['seq_len']}"
        models[model] = model_of(trial["model"], trial["seq_len"])
        name = f"aalayout-oom-{keys[trial['file']].rsplit('-', 1)[1]}-{trial['sheet_row']}"
        rows.append([name, name, keys[trial["file"]],
                     f"sheet row {trial['sheet_row']}, trial {trial['trial']}", "aleph-alpha",
                     RELEASES[trial["kernel"]], "A100-80", trial["gpus"], 8, 12.5, model,
                     train_of(trial), "out of memory"])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('{"schema":"headway/published-steps/1",\n')
        out.write(f'"train_unless_said":{text(TRAIN_UNLESS_SAID)},\n')
        for name, table in (("sources", sources), ("models", models)):
            lines = ",\n".join(f"{text(key)}:{text(value)}" for key, value in table.items())
            out.write(f'"{name}":{{\n{lines}\n}},\n')
        out.write(f'"columns":{text(COLUMNS)},\n"rows":[\n')
        out.write(",\n".join(text(row) for row in rows) + "\n]}\n")


if __name__ == "__main__":
    main()
