#include <fmt/format.h>

#include <algorithm>

#include "sim/cluster/clos_topology.h"
#include "sim/cluster/clos_widths.h"
#include "sim/cluster/fabric.h"
#include "sim/cluster/latency_defaults.h"

namespace headway {

namespace {

constexpr int kMostNodes = 1 << 20;

constexpr std::pair<std::string_view, bool> kAttachWords[] = {{"rail", true}, {"rack", false}};
constexpr std::pair<std::string_view, bool> kGroupWords[] = {{"rail", true}, {"pod", false}};

int small_integer(ObjectReader& reader, std::string_view key) {
  return static_cast<int>(reader.integer(key, between(1, kMostNodes)));
}

ClosTier read_tier(ObjectReader& reader, BytesPerSecond bandwidth, Seconds cable_latency) {
  return {
      .bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive(), bandwidth),
      .cable_latency = reader.quantity<Seconds>("cable_latency", at_least(0.0), cable_latency),
      .switch_latency = reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)};
}

/// How far the design goes, whatever part of it is built.
struct ClosExtent {
  std::string_view key;      ///< the field that limits it
  std::optional<int> units;  ///< nothing: as many as the nodes need
};

/// Reads /units, or /pods and /units_per_pod where there is a core.
ClosExtent read_extent(ObjectReader& reader, ClosShape& shape) {
  const auto refuse = [&](std::string_view key, const std::string& message) {
    if (reader.part(key)) reader.report(key, message);
  };
  if (!shape.has_core) {
    refuse("pods", "pods need a \"core\" tier that joins them");
    refuse("units_per_pod", "pods need a \"core\" tier that joins them");
    if (!reader.has("units")) return {.key = "units", .units = std::nullopt};
    return {.key = "units", .units = small_integer(reader, "units")};
  }
  refuse("units", "a fabric with a \"core\" counts its units by \"units_per_pod\" and \"pods\"");
  shape.units_per_pod = small_integer(reader, "units_per_pod");
  if (!reader.has("pods")) return {.key = "pods", .units = std::nullopt};
  const auto units = static_cast<std::int64_t>(small_integer(reader, "pods")) * shape.units_per_pod;
  return {.key = "pods", .units = static_cast<int>(std::min<std::int64_t>(units, kMostNodes))};
}

/// Settles how many nodes and units are built.
void read_size(ObjectReader& reader, const FabricRequest& request, ClosShape& shape) {
  const ClosExtent extent = read_extent(reader, shape);
  const auto room = static_cast<std::int64_t>(extent.units.value_or(0)) * shape.nodes_per_unit;
  shape.nodes = extent.units && !request.nodes
                    ? static_cast<int>(std::min<std::int64_t>(room, kMostNodes))
                    : requested_nodes(request, reader);
  shape.units = (shape.nodes + shape.nodes_per_unit - 1) / shape.nodes_per_unit;
  if (extent.units && shape.nodes > room) {
    reader.report(extent.key,
                  fmt::format("the fabric has room for {} nodes, not {}", room, shape.nodes),
                  fmt::format("{} units of {} nodes", *extent.units, shape.nodes_per_unit));
  }
  if (!shape.has_core) shape.units_per_pod = std::max(extent.units.value_or(1), shape.units);
}

/// Reports a switch whose "ports" are fewer than it needs.
void check_ports(ObjectReader& tier, int needed, const std::string& use) {
  if (!tier.has("ports")) return;
  const int ports = small_integer(tier, "ports");
  if (needed <= ports) return;
  tier.report("ports", "the switch has too few ports", fmt::format("it needs {}: {}", needed, use));
}

void read_spine_group(ObjectReader& spine, ClosShape& shape) {
  shape.spines_by_rail = spine.choice<bool>("group", kGroupWords, false);
  if (!shape.spines_by_rail) return;
  if (!shape.by_rail) spine.report("group", "there are no rails: nodes attach by rack");
  if (!shape.has_core) spine.report("group", "rails need a \"core\" tier that joins them");
}

/// Reads the tiers bottom-up: what a tier is cabled to follows from the uplinks of the one below.
/// Only notes that they are there unless `leaf_is_known`: how many ports a leaf has downwards.
void read_tiers(ObjectReader& reader, ClosPlan& plan, BytesPerSecond nic_bandwidth,
                bool leaf_is_known) {
  ClosShape& shape = plan.shape;
  const auto leaf_part = reader.required_part("leaf");
  const auto spine_part = reader.required_part("spine");
  const auto core_part = reader.part("core");
  if (!leaf_part || !spine_part || !leaf_is_known) return;

  ObjectReader leaf(*leaf_part, reader.diagnostics());
  plan.leaf = read_tier(leaf, nic_bandwidth, kLeafCableLatency);
  ObjectReader spine(*spine_part, reader.diagnostics());
  plan.spine = read_tier(spine, plan.leaf.bandwidth, kSpineCableLatency);
  read_spine_group(spine, shape);

  const int leaf_uplinks = read_uplinks(
      leaf,
      {.ports = shape.leaf_ports(), .below = plan.leaf.bandwidth, .above = plan.spine.bandwidth});
  shape.leaf_cables = read_cables_per_pair(spine, leaf_uplinks, "leaf");
  shape.spines = leaf_uplinks / shape.leaf_cables;
  check_ports(leaf, shape.leaf_ports() + leaf_uplinks,
              fmt::format("{} down, {} up", shape.leaf_ports(), leaf_uplinks));

  int spine_uplinks = 0;
  if (core_part) {
    ObjectReader core(*core_part, reader.diagnostics());
    plan.core = read_tier(core, plan.spine.bandwidth, kCoreCableLatency);
    spine_uplinks = read_uplinks(spine, {.ports = shape.spine_ports(),
                                         .below = plan.spine.bandwidth,
                                         .above = plan.core.bandwidth});
    read_planes(core, spine_uplinks, shape);
    const int spines = shape.groups() * shape.spines_of_plane();
    check_ports(core, spines * shape.core_cables,
                fmt::format("{} from each of {} spines", shape.core_cables, spines));
    reader.resolve("core", core.finish());
  }
  check_ports(spine, shape.spine_ports() + spine_uplinks,
              fmt::format("{} down, {} up", shape.spine_ports(), spine_uplinks));
  reader.resolve("leaf", leaf.finish());
  reader.resolve("spine", spine.finish());
}

}  // namespace

std::optional<Fabric> build_clos(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  ClosPlan plan;
  ClosShape& shape = plan.shape;
  shape.nics = request.node_type.nics;
  shape.has_core = reader.has("core");
  shape.by_rail = reader.choice<bool>("attach", kAttachWords);
  shape.nodes_per_unit = small_integer(reader, "nodes_per_unit");
  const bool leaf_is_known = reader.diagnostics().all().size() == problems;
  read_size(reader, request, shape);
  read_tiers(reader, plan, request.node_type.nic_bandwidth, leaf_is_known);
  if (reader.diagnostics().all().size() != problems) return std::nullopt;
  if (!fits_in_memory(clos_cables(shape), reader)) return std::nullopt;

  Fabric fabric{.topology = clos_topology(plan), .nodes = shape.nodes};
  for (VertexId endpoint = 0; endpoint < shape.endpoints(); ++endpoint) {
    fabric.endpoints.push_back(endpoint);
  }
  fabric.layout = std::make_unique<ClosShape>(shape);
  return fabric;
}

}  // namespace headway
