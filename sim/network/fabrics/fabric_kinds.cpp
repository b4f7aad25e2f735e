#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/sites.h"
#include "sim/network/planes.h"
#include "sim/network/read_kind.h"

namespace headway {

// Each is defined in the file that bears its name.
FabricKind clos_kind();
FabricKind dragonfly_kind();
FabricKind dragonfly_plus_kind();
FabricKind fat_tree_kind();
FabricKind graph_kind();
FabricKind hyperx_kind();
FabricKind rail_only_kind();
FabricKind single_switch_kind();
FabricKind torus_kind();

std::span<const FabricKind> fabric_kinds() {
  static const FabricKind kKinds[] = {clos_kind(),           fat_tree_kind(), rail_only_kind(),
                                      single_switch_kind(),  torus_kind(),    dragonfly_kind(),
                                      dragonfly_plus_kind(), hyperx_kind(),   graph_kind()};
  return kKinds;
}

namespace {

constexpr int kMostPlanes = 16;

/// What every kind has.
struct CommonFields {
  int planes = 1;
  std::optional<Sites> sites;
};

const FieldTable<CommonFields>& common_fields() {
  using Common = CommonFields;
  static const FieldTable<Common> kFields([] {
    return std::vector<Field<Common>>{
        {"kind", elsewhere<Common>(word_type(names_of_kinds(fabric_kinds()))).required(),
         R"(The shape of the fabric. A clos has leaf, spine and maybe core switches; a fat_tree is a
clos of equal switches that grows with its nodes; rail_only has a switch for each NIC number; a
torus has none; a graph is written out cable by cable.)"},
        {"planes", whole(&Common::planes, between(1, kMostPlanes)),
         R"(Copies of the fabric's switches: port p of each NIC is on plane p with its part of the
bandwidth. Flows are spread over all.
limits: generated fabrics with switches)"},
        {"sites", part(&Common::sites, site_fields),
         R"(The fabric stands on several sites alike, joined by long links between their routers.
limits: divides the nodes
default: one site)"}};
  }());
  return kFields;
}

}  // namespace

std::vector<FieldDescription> fabric_field_descriptions() {
  std::vector<FieldDescription> all = common_fields().described();
  std::ranges::move(transport_field_descriptions(), std::back_inserter(all));
  std::ranges::move(fields_of_kinds(fabric_kinds()), std::back_inserter(all));
  return all;
}

std::optional<ReadFabric> read_fabric(const JsonCursor& part, const FabricRequest& request,
                                      Diagnostics& diagnostics, nlohmann::json& resolved) {
  ObjectReader reader(part, diagnostics);
  const FabricKind* kind = read_kind(reader, fabric_kinds());
  if (kind == nullptr) return std::nullopt;
  CommonFields given;
  common_fields().read(reader, given);
  const FabricTransport transport = read_transport(reader);
  const int planes = given.planes;
  const Sites sites = given.sites.value_or(Sites{});
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
    read.has_sites = true;
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
