#!/usr/bin/env python3
"""Makes scenarios/validation/collective_sweeps.json out of a collection of published NCCL sweeps.

usage: compact_collective_sweeps.py SWEEPS.json COMPACT.json

Scored are the sweeps over several nodes on a transport that is known of which the source says what
nodes they are and what network cards they have; SCORED and ALCF say on which topology of the
library each is predicted. All others are listed with the reason why they are not. Out-of-place
times are kept, in microseconds, without the sizes that nccl-tests rounds to nothing.
"""

import json
import sys

DGX_A100 = ("dgx_a100_superpod", "DGX A100: 8 x HDR by its data sheet")
SNELLIUS = ("snellius_h100", "four HCAs of 200 Gb/s, as ib_speed.txt beside the log says")
SCORED = {
    "nccl-sweep-0006": (*DGX_A100, 2, "ring"),  # NCCL_ALGO=RING
    "nccl-sweep-0007": ("dgx1_v100_roce", "DGX-1, 2 x 100 Gb/s RoCE, as the text says", 2, None),
    "nccl-sweep-0008": (*DGX_A100, 4, None),
    "nccl-sweep-0017": ("gb200_nvl72_superpod", "two racks of NVL72", 36, None),
    **{f"nccl-sweep-{i:04}": (*SNELLIUS, 2, None) for i in range(36, 40)},
    **{f"nccl-sweep-{i:04}": (*DGX_A100, 2, None) for i in range(150, 162)},
    "nccl-sweep-0010": ("aws_p4de_fat_tree", "p4de.24xlarge, EFA, as the text says", 2, None),
    **{f"nccl-sweep-{i:04}": ("aws_p5_fat_tree", "p5.48xlarge, EFA, as the text says", 2, None)
       for i in range(3, 6)},
}
# argonne-lcf/alcf-nccl-tests number their environments: (1) and (2) are sockets, the rest the
# plugin for libfabric. One of each is predicted.
ALCF = {"(2)": "polaris_sockets", "(4)": "polaris"}
REASONS = [  # the first that a sweep's network or conditions contain
    ("Slingshot", "another environment, the test system or a million pairs of a machine that is "
     "predicted"),
    ("EFA v4", "a loop in Python: its smallest messages take 350 us"),
    ("EFA (text)", "a sixth of what other tables of the same instances have"),
    ("TCPX", "GPUDirect-TCPX, of which nothing is known"),
    ("NVLink 5 NVL72, single rack", "one NVLink domain: nothing crosses a network"),
    ("InfiniBand (Nebius)", "the accelerators are not stated"),
    ("OCI RoCE", "RCCL on MI300X: NCCL's constants are not its own, and the NICs are not stated"),
    ("Ethernet (OpenShift)", "the rate of the network is not stated"),
    ("NCCL printed network", "one rate, but neither the number of NICs nor the PCIe paths are "
     "stated; GeForce cards send through host memory"),
    ("network not named", "the network is not named"),
    ("example-cluster01", "the network is not named"),
    ("unstated", "the network is not named"),
]


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reason_of(sweep):
    if sweep["nodes"] == 1 or (sweep["nodes"] is None and (sweep["ranks"] or 8) <= 8):
        return "one node: nothing crosses a network"
    for words, reason in REASONS:
        if words in sweep["network"]:
            return reason
    raise ValueError(f"no reason for {sweep['id']}: {sweep['network']}")


def place_of(sweep):
    """Topology, what the source says, nodes, algorithm; None if the sweep is not scored."""
    if sweep["id"] in SCORED:
        return SCORED[sweep["id"]]
    words = (sweep["conditions"] or "").split()
    setting = words[2] if words[:2] == ["environment", "setup"] else None
    if "Polaris" not in sweep["network"] or setting not in ALCF:
        return None
    if sweep["op"] == "alltoall" and sweep["nodes"] > 8:
        return None  # a million pairs to route
    return ALCF[setting], f"Polaris, environment {setting}", sweep["nodes"], None


def scored(sweep):
    topology, nodes_as, nodes, algorithm = place_of(sweep)
    entry = {"id": sweep["id"], "source": sweep["source"]["url"],
             "op": {"alltoall": "all_to_all"}.get(sweep["op"], sweep["op"]),
             "topology": topology, "nodes": nodes, "stated": nodes_as}
    if algorithm:
        entry["algorithm"] = algorithm
    entry["points"] = [[row[0], row[1]] for row in sweep["rows"] if row[0] > 0]
    return entry


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sweeps = json.load(file)
    yes = [scored(sweep) for sweep in sweeps if place_of(sweep)]
    no = [{"id": sweep["id"], "source": sweep["source"].get("url") or sweep["source"]["repo"],
           "reason": reason_of(sweep)} for sweep in sweeps if not place_of(sweep)]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('{"schema":"headway/collective-sweeps/1",\n"sweeps":[\n')
        out.write(",\n".join(text(sweep) for sweep in yes) + '\n],\n"unscored":[\n')
        out.write(",\n".join(text(sweep) for sweep in no) + "\n]}\n")


if __name__ == "__main__":
    main()
