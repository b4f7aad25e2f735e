#!/usr/bin/env python3
"""Makes scenarios/validation/published_steps.json out of a full collection of published steps.

usage: compact_published_steps.py FULL.json COMPACT.json

Nothing that a prediction or its source needs is lost. A row is an array on a line of its own, its
members named by "columns"; equal models, sources and remarks stand in tables and rows name them by
key; what is null, empty or follows from something else is left out. `headway validate --rows`
reads both forms.
"""

import json
import re
import sys

# Most rows train so. The compact file states it once, and a row says what it does otherwise.
TRAIN_UNLESS_SAID = {
    "task": "pretrain",
    "vpp": 1,
    "cp": 1,
    "ep": 1,
    "etp": 1,
    "sequence_parallel": False,
    "tp_overlap": False,
    "fsdp": "none",
    "distributed_optimizer": True,
    "recompute": "none",
    "flash": True,
}

# The sheets of arXiv:2311.05610 that compare sequence parallelism hold trials with and without it
# (reproduce_figure_sequence_parallelism.py there plots both); the collection calls all of them
# "with". These ran without: the trials were numbered in one block for each setting, which is known
# from those of them that ran out of memory (memory_trials.json), and each takes longer than its
# twin in the other block.
RAN_WITHOUT_SEQUENCE_PARALLELISM = {
    131807, 131808, 131811, 131813, 131816, 131842, 131844, 131850, 131851, 131853, 131855, 131863,
    131865, 131870, 131872, 131878, 132600, 132862, 132926, 132927, 132931, 132933, 132935, 132970,
}
WITHOUT_SEQUENCE_PARALLELISM = "without sequence parallelism, by its trial number"

# The collection says of these that tensor-parallel traffic was overlapped; the table they come from
# compares "vanilla TP", which they are, with "async TP".
VANILLA_TENSOR_PARALLELISM = "vanilla tensor parallelism, by the source's table"

# Rows tagged so are said to have no sharded optimizer: Pythia's, whose configurations have it
# (EleutherAI/pythia, models/*/pythia-*.yml: "zero_optimization": {"stage": 1}).
SHARDED_OPTIMIZER = "ZeRO-1, by its tag"

# InternEvo's table of throughputs has one column for each size of the group that shards the optimizer
# ("zero1": 4, or -1 for all replicas). The collection leaves it to the row's id, so that rows of the
# two look as if they differed in nothing.
OPTIMIZER_SHARD_GROUP = re.compile("internevo-tgs-.*-z(-1|[0-9]+)-[0-9]+")
SHARDED_IN_GROUPS = "the optimizer sharded over groups of ranks, predicted as over all"


def corrected(row):
    if (row["source"]["key"] == "alephalpha_layouts" and row["train"]["sequence_parallel"]
            and int(row["id"].rsplit("-", 1)[1]) in RAN_WITHOUT_SEQUENCE_PARALLELISM):
        row["train"]["sequence_parallel"] = False
        row["notes"] = row["notes"] + [WITHOUT_SEQUENCE_PARALLELISM]
    if row["id"].startswith("torchtitan-asynctp-") and row["id"].endswith("-vanilla"):
        row["train"]["tp_overlap"] = False
        row["notes"] = row["notes"] + [VANILLA_TENSOR_PARALLELISM]
    if "ZeRO-1" in row["tags"] and not row["train"]["distributed_optimizer"]:
        row["train"]["distributed_optimizer"] = True
        row["notes"] = row["notes"] + [SHARDED_OPTIMIZER]
    group = OPTIMIZER_SHARD_GROUP.fullmatch(row["id"])
    if group and group[1] != "-1":
        row["train"]["optimizer_shard_group"] = int(group[1])
        row["notes"] = row["notes"] + [SHARDED_IN_GROUPS]
    return row


def without_empty(members):
    return {key: value for key, value in members.items() if value not in (None, [], "")}


class Table:
    """Values that rows share, by a key made from a hint and a number."""

    def __init__(self):
        self.values = {}
        self.keys = {}
        self.used = {}

    def key_of(self, hint, value):
        form = json.dumps(value, sort_keys=True)
        if form not in self.keys:
            number = self.used[hint] = self.used.get(hint, 0) + 1
            key = hint if number == 1 else f"{hint}-{number}"
            self.keys[form] = key
            self.values[key] = value
        return self.keys[form]


def train_of(train):
    kept = without_empty(train)
    if train["n_microbatches"] == train["global_batch"] / (train["dp"] * train["micro_batch"]):
        kept.pop("n_microbatches")
    kept.pop("precision_raw", None)  # how the source spells "precision"
    for key, usual in TRAIN_UNLESS_SAID.items():
        if train[key] is None:
            sys.exit(f'a row does not say "{key}": the compact form would take {usual}')
        if kept[key] == usual:
            kept.pop(key)
    return kept


def source_of(source, time_from):
    kept = without_empty(source)
    kept.pop("line", None)
    kept.pop("release", None)
    if kept.get("path", "").endswith(kept["table"]):
        kept.pop("table")
    if "/blob/" in kept["url"] and kept["url"].endswith(kept.get("path", "?")):
        kept.pop("url")  # repository, commit and path say it
    return {**kept, "time_from": time_from}


def model_of(model):
    kept = without_empty(model)
    if kept.get("mtp_layers") == 0:
        kept.pop("mtp_layers")
    return kept


def rows_of(full, tables):
    for row in map(corrected, full["rows"]):
        source = source_of(row["source"], row["measured"]["time_from"])
        if (row["cls"] == "A") == bool(row["defaults_used"]):
            sys.exit(f"{row['id']}: class A is what uses no defaults")
        remark = tables["remarks"].key_of
        yield {
            "id": row["id"],
            "group": row["group"],
            "source": tables["sources"].key_of(row["source"]["key"], source),
            "line": row["source"].get("line"),
            "framework": row["framework"],
            "release": row["release"],
            "gpu": row["gpu"],
            "gpus": row["gpus"],
            "nvlink_domain": row["nvlink_domain"],
            "nic_GBps_per_gpu": row["nic_GBps_per_gpu"],
            "model": tables["models"].key_of(row["model"]["name"], model_of(row["model"])),
            "train": train_of(row["train"]),
            "iteration_time_s": row["measured"]["iteration_time_s"],
            "defaults_used": [remark("r", said) for said in row["defaults_used"]],
            "notes": [remark("r", said) for said in row["notes"]],
            "tags": row["tags"],
        }


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        full = json.load(file)
    tables = {"sources": Table(), "models": Table(), "remarks": Table()}
    rows = list(rows_of(full, tables))
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('{"schema":"headway/published-steps/1",\n')
        out.write(f'"train_unless_said":{text(TRAIN_UNLESS_SAID)},\n')
        for name, table in tables.items():
            lines = ",\n".join(f"{text(key)}:{text(value)}" for key, value in table.values.items())
            out.write(f'"{name}":{{\n{lines}\n}},\n')
        out.write(f'"columns":{text(list(rows[0]))},\n"rows":[\n')
        out.write(",\n".join(text(list(row.values())) for row in rows) + "\n]}\n")


if __name__ == "__main__":
    main()
