#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/sites.h"
#include "sim/network/fabrics/transport.h"
#include "sim/network/planes.h"
#include "sim/network/read_kind.h"

namespace headway {

// Each is defined in the file that bears its name.
FabricBuilder build_clos;
FabricBuilder build_dragonfly;
FabricBuilder build_dragonfly_plus;
FabricBuilder build_fat_tree;
FabricBuilder build_graph;
FabricBuilder build_hyperx;
FabricBuilder build_rail_only;
FabricBuilder build_single_switch;
FabricBuilder build_torus;

namespace {

constexpr int kMostPlanes = 16;

constexpr FabricKind kFabricKinds[] = {
    {"clos", build_clos, "d-mod-k"},
    {"fat_tree", build_fat_tree, "d-mod-k"},
    {"rail_only", build_rail_only, "shortest"},
    {"single_switch", build_single_switch, "shortest"},
    {"torus", build_torus, "dimension-order"},
    {"dragonfly", build_dragonfly, "shortest"},
    {"dragonfly_plus", build_dragonfly_plus, "shortest"},
    {"hyperx", build_hyperx, "dimension-order"},
    {"graph", build_graph, "shortest"},
};

}  // namespace

std::span<const FabricKind> fabric_kinds() { return kFabricKinds; }

std::optional<ReadFabric> read_fabric(const JsonCursor& part, const FabricRequest& request,
                                      Diagnostics& diagnostics, nlohmann::json& resolved) {
  ObjectReader reader(part, diagnostics);
  const FabricKind* kind = read_kind(reader, fabric_kinds());
  if (kind == nullptr) return std::nullopt;
  const int planes = static_cast<int>(reader.integer("planes", between(1, kMostPlanes), 1));
  const FabricTransport transport = read_transport(reader);
  const Sites sites = read_sites(reader);
  const int copies = planes * sites.count;
  if (planes > 1 && sites.count > 1) {
    reader.report("planes", "a fabric of several sites has one plane");
  }
  // A plane gets its part of each NIC, a site its part of the nodes.
  NodeType of_copy = request.node_type;
  of_copy.nic_bandwidth = of_copy.nic_bandwidth / planes;
  std::optional<int> nodes = request.nodes;
  if (nodes && *nodes % sites.count != 0) {
    reader.report("sites", "the sites have the same number of nodes",
                  fmt::format("{} sites do not divide {} nodes", sites.count, *nodes));
  }
  if (nodes) nodes = std::max(*nodes / sites.count, 1);
  auto fabric = kind->build(reader, {.node_type = of_copy, .nodes = nodes});
  const bool may_be_copied = fabric && fabric->topology.switch_count() > 0 && !fabric->site &&
                             fits_in_memory(1.0 * copies * fabric->topology.cable_count(), reader);
  if (fabric && copies > 1 && !may_be_copied) {
    reader.report(planes > 1 ? "planes" : "sites",
                  fmt::format("a {} has one plane and one site", kind->name));
  }
  resolved = reader.finish();
  if (!fabric || diagnostics.has_errors()) return std::nullopt;
  ReadFabric read{.fabric = std::move(*fabric),
                  .kind = kind->name,
                  .default_routing = kind->default_routing,
                  .transport = transport};
  if (sites.count > 1) {
    read.fabric = in_sites(read.fabric, sites, request.node_type.nics);
    read.default_routing = "shortest";  // nothing computes paths through routers in closed form
  } else if (planes > 1) {
    read.plane = std::make_unique<Topology>(std::move(read.fabric.topology));
    read.fabric.topology = in_planes(*read.plane, planes);
  }
  return read;
}

bool fits_in_memory(double cables, ObjectReader& reader) {
  if (cables <= static_cast<double>(limits().cables)) return true;
  const double shown = std::min(cables, 1e18);
  reader.diagnostics().add(reader.cursor().problem(
      fmt::format("the fabric would have {} cables; at most {} are built",
                  grouped_digits(static_cast<long long>(shown)), grouped_digits(limits().cables)),
      "", limit_help(&Limits::cables)));
  return false;
}

int requested_nodes(const FabricRequest& request, ObjectReader& reader) {
  if (request.nodes) return *request.nodes;
  reader.diagnostics().add(reader.cursor().problem("the number of nodes is missing", "",
                                                   "write it beside the fabric: \"nodes\": 128"));
  return 1;
}

}  // namespace headway
