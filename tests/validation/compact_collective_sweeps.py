#!/usr/bin/env python3
"""Makes scenarios/validation/collective_sweeps.json out of a collection of published NCCL sweeps.

usage: compact_collective_sweeps.py SWEEPS.json COMPACT.json

Scored are the sweeps over several nodes on InfiniBand or RoCE of which the source says what nodes
they are and what network cards they have; SCORED says on which topology of the library each is
predicted. All others are listed with the reason why they are not. Out-of-place times are kept, in
microseconds, without the sizes that nccl-tests rounds to nothing.
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
}
REASONS = [  # the first that a sweep's network or conditions contain
    ("Slingshot", "Slingshot, neither InfiniBand nor RoCE"),
    ("EFA", "EFA, neither InfiniBand nor RoCE"),
    ("TCPX", "GPUDirect-TCPX, neither InfiniBand nor RoCE"),
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


def scored(sweep):
    topology, nodes_as, nodes, algorithm = SCORED[sweep["id"]]
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
    yes = [scored(sweep) for sweep in sweeps if sweep["id"] in SCORED]
    no = [{"id": sweep["id"], "source": sweep["source"].get("url") or sweep["source"]["repo"],
           "reason": reason_of(sweep)} for sweep in sweeps if sweep["id"] not in SCORED]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('{"schema":"headway/collective-sweeps/1",\n"sweeps":[\n')
        out.write(",\n".join(text(sweep) for sweep in yes) + '\n],\n"unscored":[\n')
        out.write(",\n".join(text(sweep) for sweep in no) + "\n]}\n")


if __name__ == "__main__":
    main()
