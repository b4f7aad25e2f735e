#!/usr/bin/env python3
"""Prints how long large fabrics take, and how much memory: run it on a quiet machine.

usage: fabric_scale.py HEADWAY

1. A generated three-tier fat-tree of 98,304 hosts, and a job on all of them: every host's route to
   the next one and the flows over all of these, simulated; once as a shift, once as a ring.
2. An InfiniBand fabric of 8,192 hosts and 1,280 switches, imported from an ibnetdiscover dump and
   forwarding tables as text (0.8 GB), which are written here first.

Processor time is what matters where others use the machine too.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

K = 32  # ports of a switch: K^3 / 4 hosts, 5 K^2 / 4 switches
HALF = K // 2


def measured(what, *command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.time() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {wall:.2f} s, {processor:.2f} s of processor time, "
          f"{after.ru_maxrss / 2**20:.2f} GiB at most so far", flush=True)


def fat_tree(path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "headway/topology/1", "name": "fat-tree-98304", "nodes": 98304,
                   "node": {"accelerator": "any", "accelerators": 1,
                            "nics": {"count": 1, "bandwidth": "400 Gb/s"}},
                   "fabric": {"kind": "clos", "attach": "rack", "nodes_per_unit": 32,
                              "units_per_pod": 32, "pods": 96, "leaf": {"uplinks": 32},
                              "spine": {"switches": 32, "uplinks": 32},
                              "core": {"switches": 1024}}}, file)


def leaf(pod, i):
    return pod * K + i


def spine(pod, i):
    return pod * K + HALF + i


def core(i):
    return K * K + i


SWITCHES = K * K + HALF * HALF
HOSTS = K * HALF * HALF


def guid(kind, number):
    return f"{kind}a1c03{number:08x}"


def lid_of_host(host):
    return SWITCHES + 1 + host


def port_towards(switch, host):
    """As OpenSM's ftree goes: down where there is a way, else up by the destination."""
    pod, of_leaf, place = host // (HALF * HALF), host // HALF % HALF, host % HALF
    if switch >= K * K:
        return pod + 1
    here, index = switch // K, switch % K
    if index >= HALF:
        return of_leaf + 1 if here == pod else HALF + 1 + of_leaf
    return place + 1 if (here, index) == (pod, of_leaf) else HALF + 1 + place


def peer(switch, port):
    """What is at port 1.. of a switch: ("H", host) or ("S", switch, its port)."""
    if switch >= K * K:
        i = switch - K * K
        return "S", spine(port - 1, i // HALF), HALF + 1 + i % HALF
    pod, index = switch // K, switch % K
    if index >= HALF:
        i = index - HALF
        if port <= HALF:
            return "S", leaf(pod, port - 1), HALF + 1 + i
        return "S", core(i * HALF + port - HALF - 1), pod + 1
    if port <= HALF:
        return "H", (pod * HALF + index) * HALF + port - 1, 1
    return "S", spine(pod, port - HALF - 1), index + 1


def write_dump(path):
    with open(path, "w", encoding="utf-8") as out:
        for s in range(SWITCHES):
            name = guid("fc6", s)
            out.write(f"\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{name}\n"
                      f"switchguid=0x{name}({name})\n"
                      f'Switch\t{K} "S-{name}"\t\t# "sw{s}" base port 0 lid {s + 1} lmc 0\n')
            for port in range(1, K + 1):
                kind, other, at = peer(s, port)
                if kind == "H":
                    out.write(f'[{port}]\t"H-{guid("946", 16 * other)}"[1]'
                              f'({guid("946", 16 * other + 1)}) \t\t# "n{other} mlx5_0" '
                              f"lid {lid_of_host(other)} 4xNDR\n")
                else:
                    out.write(f'[{port}]\t"S-{guid("fc6", other)}"[{at}]\t\t# "sw{other}" '
                              f"lid {other + 1} 4xNDR\n")
        for host in range(HOSTS):
            name, port, s = guid("946", 16 * host), guid("946", 16 * host + 1), host // HALF
            s = leaf(s // HALF, s % HALF)
            out.write(f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{name}\ncaguid=0x{name}\n"
                      f'Ca\t1 "H-{name}"\t\t# "n{host} mlx5_0"\n'
                      f'[1]({port}) \t"S-{guid("fc6", s)}"[{host % HALF + 1}]\t\t'
                      f'# lid {lid_of_host(host)} lmc 0 "sw{s}" lid {s + 1} 4xNDR\n')


def write_tables(path):
    ends = [f" : (Channel Adapter portguid 0x{guid('946', 16 * h + 1)}: 'n{h} mlx5_0')\n"
            for h in range(HOSTS)]
    lids = [f"0x{lid_of_host(h):04x} " for h in range(HOSTS)]
    with open(path, "w", encoding="utf-8") as out:
        for s in range(SWITCHES):
            out.write(f"Unicast lids [0x0-0x{SWITCHES + HOSTS:x}] of switch Lid {s + 1} "
                      f"guid 0x{guid('fc6', s)} (sw{s}):\n  Lid  Out   Destination\n"
                      "       Port     Info \n")
            out.writelines(f"{lids[h]}{port_towards(s, h):03d}{ends[h]}" for h in range(HOSTS))
            out.write(f"{HOSTS} valid lids dumped \n")


def main():
    headway = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tree, dump, tables, site = (os.path.join(folder, name) for name in
                                    ("tree.json", "dump.txt", "tables.txt", "site.json"))
        fat_tree(tree)
        measured("98,304 hosts, a shift", headway, "collective", tree, "--op", "send_recv",
                 "--bytes", "1GiB")
        measured("98,304 hosts, a ring", headway, "collective", tree, "--algorithm", "ring",
                 "--bytes", "1GiB")
        write_dump(dump)
        write_tables(tables)
        print(f"the tables are {os.path.getsize(tables) / 1e6:.0f} MB")
        measured("8,192 hosts, imported", headway, "import", "ibnetdiscover", dump, tables, "-q", "-o",
                 site)
        last = guid("946", 16 * (HOSTS - 1) + 1)
        measured("8,192 hosts, read again and routed", headway, "route", site,
                 f"0x{guid('946', 1)}", f"0x{last}")


if __name__ == "__main__":
    main()
