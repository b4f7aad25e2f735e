#include "sim/network/node_type.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/files/field_table.h"
#include "sim/network/optional_schema.h"

namespace headway {

namespace {

constexpr int kMostAccelerators = 1024;  // of a node
constexpr int kMostNics = 256;
constexpr Word<HostProcessor> kProcessors[] = {
    {"amd", HostProcessor::amd}, {"intel", HostProcessor::intel}, {"other", HostProcessor::other}};
constexpr std::string_view kNodeSchema = "headway/node/1";
// NIC and PCIe, one way: half of what ib_write_lat shows through one switch, 1.6 to 2 us.
constexpr Seconds kNicLatency = 800_ns;
constexpr Seconds kScaleUpLatency = 500_ns;  // one way through an NVSwitch, an estimate

/// NICs spread evenly: accelerator i sends by NIC floor(i * nics / accelerators).
std::vector<int> even_spread(int accelerators, int nics) {
  std::vector<int> nearest(static_cast<std::size_t>(accelerators));
  for (int i = 0; i < accelerators; ++i)
    nearest[static_cast<std::size_t>(i)] = i * nics / accelerators;
  return nearest;
}

std::vector<int> read_nearest(ObjectReader& reader, int accelerators, int nics) {
  if (!reader.has("nearest")) {
    std::vector<int> nearest = even_spread(accelerators, nics);
    reader.resolve("nearest", nearest);
    static_cast<void>(reader.part("nearest"));
    return nearest;
  }
  const std::vector<JsonCursor> elements = reader.elements("nearest");
  if (elements.size() != static_cast<std::size_t>(accelerators)) {
    reader.report("nearest", "\"nearest\" names one NIC for each accelerator",
                  fmt::format("{} for {}", counted(std::ssize(elements), "NIC"),
                              counted(accelerators, "accelerator")));
  }
  std::vector<int> nearest;
  for (const JsonCursor& element : elements) {
    const nlohmann::json& value = element.value();
    const bool is_nic = value.is_number_integer() && value >= 0 && value < nics;
    if (!is_nic) {
      reader.diagnostics().add(
          element.problem("no such NIC", fmt::format("the node has {}, numbered from 0", nics)));
    }
    nearest.push_back(is_nic ? value.get<int>() : 0);
  }
  return nearest;
}

const NodeType& node_defaults() {
  static const NodeType kDefaults{
      .name = "node", .scale_up_latency = kScaleUpLatency, .nic_latency = kNicLatency};
  return kDefaults;
}

const FieldTable<NodeType>& nic_fields() {
  using Node = NodeType;
  static const FieldTable<Node> kFields(
      {{"count", whole(&Node::nics, between(1, kMostNics)),
        "Network ports of a node. Each is an endpoint of the fabric."},
       {"bandwidth", quantity(&Node::nic_bandwidth, positive()).required(),
        R"(Of one port, each way. NICs are sold in bits: "400 Gb/s".)"},
       {"bus_bandwidth", quantity(&Node::nic_bus_bandwidth, positive()).settled([](Node& node) {
          node.nic_bus_bandwidth = node.nic_bandwidth;
        }),
        R"(What PCIe carries to a NIC and at once from it, after its protocol: 12, 24 and 48 GB/s by
16 lanes of generation 3, 4 and 5. Collectives with NCCL's costs get no more.
see: NCCL, src/graph/topo.cc
default: the bandwidth of the NIC)"},
       {"latency", quantity(&Node::nic_latency, at_least(0.0)),
        "NIC and PCIe, one way. Half of what ib_write_lat shows through one switch."},
       {"nearest", elsewhere<Node>(array_type(whole_type({}), "whole numbers")),
        R"(The NIC that each accelerator sends by, numbered from 0. Where a node has several times as
many NICs as accelerators and this is left out, each sends by as many, in equal parts: by four of
the 32 of an AWS p5 node.
limits: one for each accelerator
default: spread evenly)"}});
  return kFields;
}

/// Warns of NICs that are left over where nobody gave any by hand.
void warn_of_idle_nics(const JsonCursor& part, const NodeType& type, Diagnostics& diagnostics) {
  if (type.nics <= type.accelerators || type.nics % type.accelerators == 0) return;
  const auto count = part.member("count");
  Diagnostic warning =
      (count ? *count : part)
          .problem(fmt::format("{} of the {} NICs carry nothing", type.nics - type.accelerators,
                               type.nics),
                   fmt::format("each of {} accelerators sends by one", type.accelerators),
                   "give a multiple of the accelerators, of which each sends by "
                   "as many, or name one for each as \"nearest\"");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

nlohmann::json read_nics(const JsonCursor& part, NodeType& type, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  nic_fields().read(reader, type);
  if (!reader.has("nearest")) warn_of_idle_nics(part, type, diagnostics);
  type.nearest_nic = read_nearest(reader, type.accelerators, type.nics);
  const bool are_shared_out = type.nics % type.accelerators == 0 &&
                              type.nearest_nic == even_spread(type.accelerators, type.nics);
  type.nics_of_accelerator = are_shared_out ? type.nics / type.accelerators : 1;
  return reader.finish();
}

/// The scale-up domain holds whole nodes, or a node holds whole domains.
bool is_aligned(int domain, int accelerators) {
  return domain % accelerators == 0 || accelerators % domain == 0;
}

const FieldTable<ReadNodeType>& scale_up_fields() {
  using Node = ReadNodeType;
  static const FieldTable<Node> kFields(
      {{"bandwidth",
        within(&Node::type, quantity(&NodeType::scale_up_bandwidth, positive())).required(),
        R"(What an accelerator sends, one way. NVIDIA's data sheets add up both ways: half of
theirs.)"},
       {"latency", within(&Node::type, quantity(&NodeType::scale_up_latency, at_least(0.0))),
        R"(One way, from accelerator to accelerator; an estimate, for bounds of the hardware alone:
predictions take the profile's, which is measured end to end.)"},
       {"reduces", within(&Node::type, flag(&NodeType::scale_up_reduces)),
        R"(The switches of the scale-up fabric add up what passes (NVLink SHARP, on NVSwitches since
Hopper): an all-reduce with NCCL's costs may then use them.)"},
       {"domain", whole(&Node::scale_up_domain, between(1, 1 << 20)).settled([](Node& node) {
          node.scale_up_domain = node.type.accelerators;
        }),
        R"(Accelerators that reach each other without a NIC. 72 for an NVL72 rack of 18 nodes.
limits: whole nodes, or a node is whole domains
default: the node's accelerators)"}});
  return kFields;
}

nlohmann::json read_scale_up(const JsonCursor& part, ReadNodeType& read, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  scale_up_fields().read(reader, read);
  const NodeType& type = read.type;
  if (!is_aligned(read.scale_up_domain, type.accelerators)) {
    reader.report("domain", "a scale-up domain is made of whole nodes, or a node of whole domains",
                  fmt::format("a node has {} accelerators", type.accelerators));
  }
  return reader.finish();
}

const FieldTable<NodeType>& node_fields() {
  using Node = NodeType;
  static const FieldTable<Node> kFields(
      {{"schema", elsewhere<Node>(constant_type(kNodeSchema)),
        R"(Says that a file is a node type, and of which version.
default: required in a file, optional inside a topology)"},
       {"name", text(&Node::name), "What reports call the node type."},
       {"source", elsewhere<Node>(text_type()), "Where the numbers were published."},
       {"accelerator", text(&Node::accelerator).required(),
        R"(The kind of accelerator, as profiles name theirs. "any" goes with every profile.
see: profile.accelerator)"},
       {"accelerators", whole(&Node::accelerators, between(1, kMostAccelerators)),
        "Accelerators of a node."},
       {"processor", word(&Node::processor, kProcessors),
        R"(Of the host. NCCL's own model counts more time for a message, and less bandwidth for small
ones, on AMD's; it decides nothing else.)"},
       {"host_memory", quantity(&Node::host_memory, positive()).where([](const Node& node) {
          return node.host_memory > Bytes(0.0);
        }),
        R"(What the node's processors have, for all its accelerators together. What jobs offload is held
against it.
see: strategy.optimizer_offload; strategy.offload_layers
default: not known, and nothing is held against it)"},
       {"nics",
        elsewhere<Node>(object_type()).required().made_of(nic_fields().described(node_defaults())),
        "The network cards of a node."},
       {"scale_up",
        elsewhere<Node>(object_type())
            .made_of(scale_up_fields().described({.type = node_defaults()})),
        R"(What joins the accelerators of a scale-up domain without a NIC: NVLink, PCIe.
default: required with two or more accelerators)"}});
  return kFields;
}

}  // namespace

std::vector<FieldDescription> node_field_descriptions() {
  return node_fields().described(node_defaults());
}

std::optional<ReadNodeType> read_node_type(const JsonCursor& part, InputFiles& files) {
  const std::optional<JsonCursor> object = files.follow(part, "topologies/nodes");
  if (!object) return std::nullopt;

  Diagnostics problems;
  ReadNodeType read{.type = node_defaults()};
  NodeType& type = read.type;
  ObjectReader reader(*object, problems);
  if (!read_schema_of_file(reader, kNodeSchema)) {
    files.diagnostics().append(problems);
    return std::nullopt;
  }
  node_fields().read(reader, type);
  reader.text("source", "");
  if (const auto nics = reader.required_part(
          "nics", R"({"count": 8, "bandwidth": "400 Gb/s", "latency": "800 ns"})")) {
    reader.resolve("nics", read_nics(*nics, type, problems));
  }
  // A lone accelerator has nobody to scale up with.
  const auto scale_up =
      type.accelerators == 1
          ? reader.part("scale_up")
          : reader.required_part("scale_up", R"({"bandwidth": "450 GB/s", "latency": "500 ns"})");
  if (scale_up) {
    reader.resolve("scale_up", read_scale_up(*scale_up, read, problems));
  } else {
    type.scale_up_latency = Seconds(0.0);
  }
  read.resolved = reader.finish();

  files.diagnostics().append(problems);
  if (problems.has_errors()) return std::nullopt;
  return read;
}

}  // namespace headway
