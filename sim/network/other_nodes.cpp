#include "sim/network/other_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/files/field_table.h"

namespace headway {
namespace {

constexpr int kMostNodesNamed = 1 << 20;

/// What two types differ in that have to be equally wide; empty if nothing.
std::string difference(const ReadNodeType& own, const ReadNodeType& other) {
  const auto differ = [](const char* what, int there, int here) {
    return fmt::format("{} {}, not {}", here, what, there);
  };
  if (own.type.accelerators != other.type.accelerators) {
    return differ("accelerators", own.type.accelerators, other.type.accelerators);
  }
  if (own.type.nics != other.type.nics) return differ("NICs", own.type.nics, other.type.nics);
  if (own.type.nearest_nic != other.type.nearest_nic) return "other NICs nearest to them";
  if (own.scale_up_domain != other.scale_up_domain) {
    return differ("accelerators in a scale-up domain", own.scale_up_domain, other.scale_up_domain);
  }
  return "";
}

const FieldTable<OtherNodes>& run_fields_of_nodes() {
  using Run = OtherNodes;
  static const FieldTable<Run> kFields(
      {{"first", whole(&Run::first, between(0, kMostNodesNamed - 1)).required(),
        "The first node of them, counted from 0."},
       {"count", whole(&Run::count, between(1, kMostNodesNamed)),
        "How many, one behind the other."},
       {"node", elsewhere<Run>(file_type()).required(), "What they are.\nsee: topologies/nodes"}});
  return kFields;
}

nlohmann::json read_run(const JsonCursor& part, const ReadNodeType& own, InputFiles& files,
                        std::vector<OtherNodes>& runs) {
  ObjectReader reader(part, files.diagnostics());
  OtherNodes run;
  run_fields_of_nodes().read(reader, run);
  const auto node = reader.required_part("node", "\"dgx_h100\"");
  auto type = node ? read_node_type(*node, files) : std::nullopt;
  if (type) {
    const std::string differs = difference(own, *type);
    if (!differs.empty()) {
      reader.report("node", "all nodes of a cluster are equally wide", differs,
                    "describe a wider machine as several nodes");
    }
    reader.resolve("node", std::move(*type->resolved));
    run.type = std::move(type->type);
    run.place = part;
    runs.push_back(std::move(run));
  }
  return reader.finish();
}

bool are_alike(const NodeType& a, const NodeType& b) {
  return a.name == b.name && a.accelerator == b.accelerator &&
         a.scale_up_bandwidth == b.scale_up_bandwidth && a.scale_up_latency == b.scale_up_latency &&
         a.scale_up_reduces == b.scale_up_reduces && a.processor == b.processor &&
         a.nic_bandwidth == b.nic_bandwidth && a.nic_bus_bandwidth == b.nic_bus_bandwidth &&
         a.nic_latency == b.nic_latency;
}

int kind_of_type(const NodeType& type, Cluster& cluster) {
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    if (are_alike(cluster.type_of_kind(kind), type)) return kind;
  }
  cluster.other_types.push_back(type);
  return cluster.kinds() - 1;
}

/// Cables were laid for the fastest NICs.
void slow_down_cables(Cluster& cluster) {
  const auto nics = static_cast<std::size_t>(cluster.node_type.nics);
  for (std::size_t i = 0; i < cluster.endpoints.size(); ++i) {
    const NodeType& type =
        cluster.type_of_kind(cluster.kind_of_node.empty() ? 0 : cluster.kind_of_node[i / nics]);
    const std::span<const LinkId> cables = cluster.topology.links_from(cluster.endpoints[i]);
    // The ports of a NIC, one on each plane, share its rate; on rings and tori each has its own.
    const bool has_planes = cluster.topology.switch_count() > 0 && !cables.empty();
    const double ports = has_planes ? static_cast<double>(cables.size()) : 1.0;
    const BytesPerSecond of_port = type.nic_bandwidth / ports;
    for (const LinkId link : cables) {
      for (const LinkId way : {link, Topology::reverse(link)}) {
        Link& cable = cluster.topology.link(way);
        cable.capacity = min(cable.capacity, of_port);
      }
    }
  }
}

}  // namespace

std::vector<FieldDescription> other_node_descriptions() {
  return run_fields_of_nodes().described();
}

std::optional<ReadOtherNodes> read_other_nodes(const JsonCursor& part, const ReadNodeType& own,
                                               InputFiles& files) {
  const std::size_t problems = files.diagnostics().errors();
  ReadOtherNodes read;
  nlohmann::json resolved = nlohmann::json::array();
  if (!part.is_array()) {
    files.diagnostics().add(
        part.problem("\"other_nodes\" is a list", "",
                     R"(write [{"first": 4, "count": 2, "node": "dgx_a100"}])"));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < part.value().size(); ++i) {
    resolved.push_back(read_run(part.element(i), own, files, read.runs));
  }
  read.resolved = std::move(resolved);
  if (files.diagnostics().errors() > problems) return std::nullopt;
  return read;
}

const NodeType& fastest_nics(const NodeType& own, const std::vector<OtherNodes>& others) {
  const NodeType* fastest = &own;
  for (const OtherNodes& run : others) {
    if (run.type.nic_bandwidth > fastest->nic_bandwidth) fastest = &run.type;
  }
  return *fastest;
}

void place_other_nodes(const std::vector<OtherNodes>& others, Cluster& cluster,
                       Diagnostics& diagnostics) {
  if (others.empty()) return;
  std::vector<int> kinds(static_cast<std::size_t>(cluster.nodes), 0);
  std::vector<bool> is_named(kinds.size(), false);
  for (const OtherNodes& run : others) {
    if (run.first + run.count > cluster.nodes) {
      diagnostics.add(
          run.place->problem("\"other_nodes\" names nodes that the cluster has not",
                             fmt::format("nodes {} to {} of {}, counted from 0", run.first,
                                         run.first + run.count - 1, cluster.nodes)));
      return;
    }
    const int kind = kind_of_type(run.type, cluster);
    const auto first = static_cast<std::size_t>(run.first);
    for (std::size_t node = first; node < first + static_cast<std::size_t>(run.count); ++node) {
      if (is_named[node]) {
        diagnostics.add(
            run.place->problem("\"other_nodes\" names a node twice", fmt::format("node {}", node)));
        return;
      }
      is_named[node] = true;
      kinds[node] = kind;
    }
  }
  if (cluster.kinds() == 1) return;
  cluster.kind_of_node = std::move(kinds);
  slow_down_cables(cluster);
}

}  // namespace headway
