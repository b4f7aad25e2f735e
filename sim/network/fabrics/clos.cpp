#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/network/fabrics/clos_topology.h"
#include "sim/network/fabrics/clos_widths.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

constexpr int kMostUnits = 1 << 20;
constexpr int kMostSwitchPorts = 1 << 20;  // of a switch

constexpr std::pair<std::string_view, bool> kGroupWords[] = {{"rail", true}, {"pod", false}};

int small_integer(ObjectReader& reader, std::string_view key) {
  return static_cast<int>(reader.integer(key, between(1, kMostUnits)));
}

ClosTier read_tier(ObjectReader& reader, BytesPerSecond bandwidth, Seconds cable_latency) {
  return {
      .bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive(), bandwidth),
      .cable_latency = reader.quantity<Seconds>("cable_latency", at_least(0.0), cable_latency),
      .switch_latency = reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)};
}

/// Reads a "clos" fabric into a plan. What a tier is cabled to follows from the uplinks of the one
/// below, so the tiers are read bottom-up.
class ClosReader {
 public:
  ClosReader(ObjectReader& reader, const FabricRequest& request)
      : reader_(reader), request_(request) {}

  ClosPlan read() {
    const std::size_t problems = reader_.diagnostics().all().size();
    shape_.nics = request_.node_type.nics;
    shape_.has_core = reader_.has("core");
    shape_.by_rail = reader_.choice<bool>("attach", kAttachWords);
    shape_.nodes_per_unit = small_integer(reader_, "nodes_per_unit");
    const bool leaf_is_known = reader_.diagnostics().all().size() == problems;
    read_extent();
    read_size();
    const auto leaf = reader_.required_part("leaf");
    const auto spine = reader_.required_part("spine");
    const auto core = reader_.part("core");
    if (leaf && spine && leaf_is_known) read_tiers(*leaf, *spine, core);
    return plan_;
  }

 private:
  /// Reads how far the design goes, whatever part of it is built: /units, or /pods and
  /// /units_per_pod where there is a core.
  void read_extent() {
    if (!shape_.has_core) {
      refuse("pods", "pods need a \"core\" tier that joins them");
      refuse("units_per_pod", "pods need a \"core\" tier that joins them");
      most_units_ = optional_integer("units");
      return;
    }
    refuse("units", "with a \"core\", units are counted by \"units_per_pod\" and \"pods\"");
    shape_.units_per_pod = small_integer(reader_, "units_per_pod");
    if (const std::optional<int> pods = optional_integer("pods")) {
      const double units = static_cast<double>(*pods) * shape_.units_per_pod;
      most_units_ = static_cast<int>(std::min<double>(units, kMostUnits));
    }
  }

  std::optional<int> optional_integer(std::string_view key) {
    if (reader_.has(key)) return small_integer(reader_, key);
    static_cast<void>(reader_.part(key));  // a known field
    return std::nullopt;
  }

  void refuse(std::string_view key, const std::string& message) {
    if (reader_.part(key)) reader_.report(key, message);
  }

  /// Settles how many nodes and units are built.
  void read_size() {
    const double room = static_cast<double>(most_units_.value_or(0)) * shape_.nodes_per_unit;
    shape_.nodes = most_units_ && !request_.nodes
                       ? static_cast<int>(std::min<double>(room, kMostUnits))
                       : requested_nodes(request_, reader_);
    shape_.units = (shape_.nodes + shape_.nodes_per_unit - 1) / shape_.nodes_per_unit;
    if (most_units_ && shape_.nodes > room) {
      reader_.report(shape_.has_core ? "pods" : "units",
                     fmt::format("the fabric has room for {} nodes, not {}", room, shape_.nodes),
                     fmt::format("{} units of {} nodes", *most_units_, shape_.nodes_per_unit));
      // The switches of the design are big enough for the design.
      shape_.nodes = static_cast<int>(room);
      shape_.units = *most_units_;
    }
    if (!shape_.has_core) {
      shape_.units_per_pod = std::max(most_units_.value_or(1), shape_.units);
    }
  }

  void read_tiers(const JsonCursor& leaf_part, const JsonCursor& spine_part,
                  const std::optional<JsonCursor>& core_part) {
    ObjectReader leaf(leaf_part, reader_.diagnostics());
    ObjectReader spine(spine_part, reader_.diagnostics());
    plan_.leaf = read_tier(leaf, request_.node_type.nic_bandwidth, kLeafCableLatency);
    plan_.spine = read_tier(spine, plan_.leaf.bandwidth, kSpineCableLatency);
    read_spine_group(spine);

    const int uplinks = read_uplinks(leaf, {.ports = shape_.leaf_ports(),
                                            .below = plan_.leaf.bandwidth,
                                            .above = plan_.spine.bandwidth});
    shape_.leaf_cables = read_cables_per_pair(spine, uplinks, "leaf");
    shape_.spines = uplinks / shape_.leaf_cables;
    check_ports(leaf, {.down = static_cast<double>(shape_.leaf_ports()),
                       .up = uplinks,
                       .are_known = uplinks != 0});

    Ports ports{.down = static_cast<double>(shape_.group_leaves()) * shape_.leaf_cables,
                .are_known = uplinks != 0};
    if (core_part) {
      ObjectReader core(*core_part, reader_.diagnostics());
      const bool fits = ports.are_known && ports.down <= kMostSwitchPorts;
      ports.up = read_core(core, spine, fits ? shape_.spine_ports() : 0);
      reader_.resolve("core", core.finish());
    }
    check_ports(spine, ports);
    reader_.resolve("leaf", leaf.finish());
    reader_.resolve("spine", spine.finish());
  }

  void read_spine_group(ObjectReader& spine) {
    shape_.spines_by_rail = spine.choice<bool>("group", kGroupWords, false);
    if (!shape_.spines_by_rail) return;
    if (!shape_.by_rail) spine.report("group", "there are no rails: nodes attach by rack");
  }

  /// Returns the uplinks of a spine with so many ports down; 0 if either is not known.
  int read_core(ObjectReader& core, ObjectReader& spine, int spine_ports) {
    plan_.core = read_tier(core, plan_.spine.bandwidth, kCoreCableLatency);
    const int uplinks = read_uplinks(
        spine,
        {.ports = spine_ports, .below = plan_.spine.bandwidth, .above = plan_.core.bandwidth});
    const bool is_known = read_planes(core, uplinks, shape_) && spine_ports != 0;
    const int pods = std::max(shape_.pods(), most_units_.value_or(0) / shape_.units_per_pod);
    check_ports(core, {.down = static_cast<double>(pods) * shape_.groups_per_pod() *
                               shape_.spines_of_plane() * shape_.core_cables,
                       .are_known = is_known});
    return uplinks;
  }

  /// Of a switch of the full design. `down` is a double because it may be more than an int holds.
  struct Ports {
    double down = 0.0;
    int up = 0;
    bool are_known = false;
  };

  /// Reports a switch whose "ports" are fewer than it needs.
  static void check_ports(ObjectReader& tier, const Ports& needed) {
    int ports = kMostSwitchPorts;
    if (tier.has("ports")) {
      ports = small_integer(tier, "ports");
    } else {
      static_cast<void>(tier.part("ports"));  // a known field
    }
    if (!needed.are_known || needed.down + needed.up <= ports) return;
    tier.report("ports", "the switch has too few ports",
                fmt::format("it needs {} down and {} up", needed.down, needed.up));
  }

  ObjectReader& reader_;
  const FabricRequest& request_;
  ClosPlan plan_;
  ClosShape& shape_ = plan_.shape;
  std::optional<int> most_units_;  ///< of the design; nothing: as many as the nodes need
};

}  // namespace

std::optional<Fabric> build_clos(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  const ClosPlan plan = ClosReader(reader, request).read();
  if (reader.diagnostics().all().size() != problems) return std::nullopt;
  if (!fits_in_memory(clos_cables(plan.shape), reader)) return std::nullopt;
  return clos_fabric(plan);
}

}  // namespace headway
