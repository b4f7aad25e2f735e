#include "sim/network/routing/routing_kind.h"
#include "sim/reference/explain_tables.h"

namespace headway {

std::vector<FieldRow> topology_rows() {
  return {
      {"cluster.topology.schema", constant_type("headway/topology/1"),
       "required in a file, optional inside a scenario",
       "Says that a file is a topology, and of which version."},
      {"cluster.topology.name", text_type(), "required", "What reports call the cluster."},
      {"cluster.topology.source", text_type(), "empty",
       "Where the numbers were published, and what was assumed."},
      {"cluster.topology.nodes", whole_type(between(1, 1'048'576)), "what the fabric has room for",
       "Nodes on the fabric.", "", "cluster.nodes"},
      {"cluster.topology.node", file_type(), "required",
       "The kind of node, of all that other_nodes does not name.", "", "topologies/nodes"},
      {"cluster.topology.node.schema", constant_type("headway/node/1"),
       "required in a file, optional inside a topology",
       "Says that a file is a node type, and of which version."},
      {"cluster.topology.node.name", text_type(), R"("node")", "What reports call the node type."},
      {"cluster.topology.node.source", text_type(), "empty", "Where the numbers were published."},
      {"cluster.topology.node.accelerator", text_type(), "required",
       "The kind of accelerator, as profiles name theirs. \"any\" goes with every profile.", "",
       "profile.accelerator"},
      {"cluster.topology.node.accelerators", whole_type(between(1, 1024)), "1",
       "Accelerators of a node."},
      {"cluster.topology.node.scale_up", object_type(), "required with two or more accelerators",
       "What joins the accelerators of a scale-up domain without a NIC: NVLink, PCIe."},
      {"cluster.topology.node.scale_up.bandwidth", quantity_type<BytesPerSecond>({}), "required",
       "What an accelerator sends, one way. NVIDIA's data sheets add up both ways: half of theirs.",
       "more than 0"},
      {"cluster.topology.node.scale_up.latency", quantity_type<Seconds>({}), R"("500 ns")",
       "One way, from accelerator to accelerator; an estimate, for bounds of the hardware alone: "
       "predictions take the profile's, which is measured end to end."},
      {"cluster.topology.node.scale_up.reduces", flag_type(), "false",
       "The switches of the scale-up fabric add up what passes (NVLink SHARP, on NVSwitches since "
       "Hopper): an all-reduce with NCCL's costs may then use them."},
      {"cluster.topology.node.processor", words_type({"amd", "intel", "other"}), R"("other")",
       "Of the host. NCCL's own model counts more time for a message, and less bandwidth for small "
       "ones, on AMD's; it decides nothing else."},
      {"cluster.topology.node.scale_up.domain", whole_type(between(1, 1'048'576)),
       "the node's accelerators",
       "Accelerators that reach each other without a NIC. 72 for an NVL72 rack of 18 nodes.",
       "whole nodes, or a node is whole domains"},
      {"cluster.topology.node.nics", object_type(), "required", "The network cards of a node."},
      {"cluster.topology.node.nics.count", whole_type(between(1, 256)), "1",
       "Network ports of a node. Each is an endpoint of the fabric."},
      {"cluster.topology.node.nics.bandwidth", quantity_type<BytesPerSecond>({}), "required",
       R"(Of one port, each way. NICs are sold in bits: "400 Gb/s".)", "more than 0"},
      {"cluster.topology.node.nics.bus_bandwidth", quantity_type<BytesPerSecond>({}),
       "the bandwidth of the NIC",
       "What PCIe carries to a NIC and at once from it, after its protocol: 12, 24 and 48 GB/s by "
       "16 lanes of generation 3, 4 and 5. Collectives with NCCL's costs get no more.",
       "more than 0", "NCCL, src/graph/topo.cc"},
      {"cluster.topology.node.nics.latency", quantity_type<Seconds>({}), R"("800 ns")",
       "NIC and PCIe, one way. Half of what ib_write_lat shows through one switch."},
      {"cluster.topology.node.nics.nearest", array_type(whole_type({}), "whole numbers"),
       "spread evenly", "The NIC that each accelerator sends by, numbered from 0.",
       "one for each accelerator"},
      {"cluster.topology.other_nodes", array_type(object_type(), "objects"), "none",
       "Nodes of another type, each run of them an object. A job on several takes a list of "
       "profiles: "
       "every node that of its accelerator.",
       "as wide as the others: as many accelerators and NICs", "profile"},
      {"cluster.topology.other_nodes.first", whole_type(between(0, 1'048'575)), "required",
       "The first node of them, counted from 0."},
      {"cluster.topology.other_nodes.count", whole_type(between(1, 1'048'576)), "1",
       "How many, one behind the other."},
      {"cluster.topology.other_nodes.node", file_type(), "required", "What they are.", "",
       "topologies/nodes"},
      {"cluster.topology.routing", object_type(), "what fits the fabric",
       "How the fabric picks paths."},
      {"cluster.topology.routing.kind", word_type(names_of(routing_kinds())),
       "d-mod-k for a clos, dimension-order for a torus and a hyperx, else shortest",
       "The rule by which a flow's path is chosen. ecmp hashes flows onto equal paths, adaptive "
       "spreads packets over them, valiant takes detours through other groups; the others have one "
       "fixed path for each pair of endpoints. Cables that are down are routed around, but by a "
       "table.",
       "d-mod-k routes clos fabrics, dimension-order tori and hyperx, valiant dragonflies, table "
       "graphs, the others any",
       R"(Zahavi 2010, "D-Mod-K routing"; OpenSM's ftree engine)"},
      {"cluster.topology.routing.queue_pairs", whole_type(between(1, 256)), "1 (ecmp)",
       "Connections that carry equal parts of a flow, each hashed by itself: channels times "
       "NCCL_IB_QPS_PER_CONNECTION."},
      {"cluster.topology.routing.seed", whole_type(at_least(0)), "1 (ecmp)",
       "Of the switches' hash functions: another seed is another draw of collisions."},
      {"cluster.topology.routing.polarised", flag_type(), "false (ecmp)",
       "All switches hash with the same function, so that the choices of one tier repeat on the "
       "next."},
      {"cluster.topology.routing.efficiency",
       number_type({.least = 0.0, .most = 1.0, .open = true}), "0.95 (adaptive)",
       "What part of the links between switches flows fill, packets being spread a little "
       "unevenly.",
       "", "NVIDIA, 28 October 2024: Spectrum-X keeps 95 % of the throughput"},
      {"cluster.topology.routing.share", number_type(between(0, 1)), "required (valiant)",
       "Part of the traffic between groups that goes through a third one. 0 is minimal routing; "
       "adaptive routing (UGAL) takes at most 0.5.",
       "", "J. Kim and others, ISCA 2008"},
      {"cluster.topology.routing.digits",
       {"2 or 4", whole_type(between(2, 4)).schema},
       "2 (table)",
       "Hexadecimal digits of a port in the rows of a table."},
      {"cluster.topology.routing.rows", array_type(text_type(), "texts"), "required (table)",
       "Forwarding tables: a row for each switch, in it the port for each endpoint, both in the "
       "order of the graph; 00 where there is no entry. `headway import` writes them.",
       "one row for each switch, one port for each endpoint"},
      {"cluster.topology.faults", array_type(object_type(), "objects"), "[]",
       "What is down or slow: each names a cable, a switch or a NIC. The fabric is routed around "
       "it; accelerators whose NIC is cut off send by another one of their node.",
       "leaves every node a NIC and a path to every other one"},
      {"cluster.topology.faults.cable", array_type(text_type(), "two texts"), "absent",
       "The names of its ends, as `headway route` prints them."},
      {"cluster.topology.faults.number", whole_type(at_least(0)), "all cables between the two",
       "Which one of parallel cables, from 0."},
      {"cluster.topology.faults.bandwidth", quantity_type<BytesPerSecond>({}), "the cable is down",
       "What the cable still carries, each way: lanes that failed.", "more than 0"},
      {"cluster.topology.faults.switch", text_type(), "absent", "A switch that is down."},
      {"cluster.topology.faults.nic", text_type(), "absent",
       R"(A NIC port that is down: "node3/nic2".)"},
      {"cluster.topology.expect", object_type(), "nothing is expected",
       "Counts that the built fabric must have: a guard against slips. Not checked where the "
       "scenario takes another number of nodes."},
      {"cluster.topology.expect.accelerators", whole_type(at_least(0)), "not checked",
       "Accelerators of the cluster."},
      {"cluster.topology.expect.endpoints", whole_type(at_least(0)), "not checked", "NIC ports."},
      {"cluster.topology.expect.switches", whole_type(at_least(0)), "not checked",
       "Switches of all tiers."},
      {"cluster.topology.expect.switches_by_tier", array_type(whole_type({}), "whole numbers"),
       "not checked", "Switches of each tier, bottom-up."},
      {"cluster.topology.expect.cables", whole_type(at_least(0)), "not checked",
       "Cables, those to the nodes included."}};
}

}  // namespace headway
