#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/network/fabrics/clos_widths.h"

namespace headway {

namespace {

constexpr int kMostUnits = 1 << 20;
constexpr int kMostSwitchPorts = 1 << 20;  // of a switch

/// The numbers of a fabric as a file has them.
struct ClosFields {
  bool has_core = false;
  bool by_rail = false;
  int nodes_per_unit = 1;
  std::optional<int> units;
  int units_per_pod = 1;
  std::optional<int> pods;
};

const FieldTable<ClosFields>& clos_fields() {
  constexpr Range kCounts = between(1, kMostUnits);
  constexpr FieldNeed kCore{"core", "", "pods need a \"core\" tier that joins them"};
  const auto has_core = [](const ClosFields& clos) { return clos.has_core; };
  static const FieldTable<ClosFields> kFields(
      {{"attach", word(&ClosFields::by_rail, kAttachWords).required(), kAttachNotes},
       {"nodes_per_unit", whole(&ClosFields::nodes_per_unit, kCounts).required(),
        "Nodes on the same leaf switches (a scalable unit, a rack)."},
       {"pods", whole(&ClosFields::pods, kCounts).only_where(has_core, kCore),
        R"(Pods of a clos of three tiers. Its cores are sized for that many.
default: as many as the nodes need)"},
       {"units_per_pod",
        whole(&ClosFields::units_per_pod, kCounts).required().only_where(has_core, kCore),
        R"(Units under the same spines, in a clos of three tiers.
default: required with a core)"},
       {"units",
        whole(&ClosFields::units, kCounts)
            .only_where([](const ClosFields& clos) { return !clos.has_core; },
                        {"no core", "",
                         "with a \"core\", units are counted by \"units_per_pod\" and \"pods\""}),
        R"(Units of a clos of two tiers. Its spines are sized for that many.
default: as many as the nodes need)"},
       {"leaf",
        elsewhere<ClosFields>(object_type())
            .required()
            .made_of(clos_tier_descriptions(ClosLevel::leaf)),
        "The switches that nodes are cabled to."},
       {"spine",
        elsewhere<ClosFields>(object_type())
            .required()
            .made_of(clos_tier_descriptions(ClosLevel::spine)),
        "The switches that join leaves."},
       {"core",
        elsewhere<ClosFields>(object_type()).made_of(clos_tier_descriptions(ClosLevel::core)),
        R"(The switches that join pods.
default: none: two tiers)"}});
  return kFields;
}

/// Reads a "clos" fabric into a plan. What a tier is cabled to follows from the uplinks of the one
/// below, so the tiers are read bottom-up.
class ClosReader {
 public:
  ClosReader(ObjectReader& reader, const FabricRequest& request)
      : reader_(reader), request_(request) {}

  ClosPlan read() {
    const std::size_t problems = reader_.diagnostics().errors();
    shape_.nics = request_.node_type.nics;
    ClosFields given{.has_core = reader_.has("core")};
    bool leaf_is_known = false;  ///< nothing that its ports follow from is wrong
    clos_fields().read(reader_, given, [&](std::string_view field, const auto&) {
      if (field == "pods") leaf_is_known = reader_.diagnostics().errors() == problems;
      return true;
    });
    shape_.has_core = given.has_core;
    shape_.by_rail = given.by_rail;
    shape_.nodes_per_unit = given.nodes_per_unit;
    // How far the design goes, whatever part of it is built.
    most_units_ = given.units;
    if (given.has_core) shape_.units_per_pod = given.units_per_pod;
    if (given.pods) {
      const double units = static_cast<double>(*given.pods) * shape_.units_per_pod;
      most_units_ = static_cast<int>(std::min<double>(units, kMostUnits));
    }
    read_size(reader_.diagnostics().errors() == problems);
    const auto leaf = reader_.required_part("leaf", R"({"uplinks": 20, "ports": 40})");
    const auto spine = reader_.required_part("spine", R"({"switches": 10})");
    const auto core = reader_.part("core");
    if (leaf && spine && leaf_is_known) read_tiers(*leaf, *spine, core);
    return plan_;
  }

 private:
  /// Settles how many nodes and units are built. Room that follows from a wrong number is not
  /// spoken of.
  void read_size(bool is_known) {
    const double room = static_cast<double>(most_units_.value_or(0)) * shape_.nodes_per_unit;
    shape_.nodes = most_units_ && !request_.nodes
                       ? static_cast<int>(std::min<double>(room, kMostUnits))
                       : requested_nodes(request_, reader_);
    shape_.units = (shape_.nodes + shape_.nodes_per_unit - 1) / shape_.nodes_per_unit;
    if (is_known && most_units_ && shape_.nodes > room) {
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

  static ClosTierFields read_tier(ObjectReader& reader, ClosLevel level, const ClosTier& defaults,
                                  BytesPerSecond bandwidth, bool has_uplinks = true) {
    ClosTierFields tier{.tier = defaults};
    tier.tier.bandwidth = bandwidth;
    clos_tier_fields(level).read(reader, tier, [&](std::string_view field, const auto&) {
      return has_uplinks || (field != "uplinks" && field != "oversubscription");
    });
    return tier;
  }

  void read_tiers(const JsonCursor& leaf_part, const JsonCursor& spine_part,
                  const std::optional<JsonCursor>& core_part) {
    ObjectReader leaf(leaf_part, reader_.diagnostics());
    ObjectReader spine(spine_part, reader_.diagnostics());
    const ClosTierFields of_leaf =
        read_tier(leaf, ClosLevel::leaf, {}, request_.node_type.nic_bandwidth);
    const ClosTierFields of_spine = read_tier(spine, ClosLevel::spine, kSpineTier,
                                              of_leaf.tier.bandwidth, core_part.has_value());
    plan_.leaf = of_leaf.tier;
    plan_.spine = of_spine.tier;
    shape_.spines_by_rail = of_spine.spines_by_rail;
    if (shape_.spines_by_rail && !shape_.by_rail) {
      spine.report("group", "there are no rails: nodes attach by rack");
    }

    const int uplinks = settled_uplinks(leaf, of_leaf,
                                        {.ports = shape_.leaf_ports(),
                                         .below = plan_.leaf.bandwidth,
                                         .above = plan_.spine.bandwidth});
    shape_.leaf_cables = settled_cables_per_pair(spine, of_spine, uplinks);
    shape_.spines = uplinks / shape_.leaf_cables;
    check_ports(leaf, of_leaf,
                {.down = static_cast<double>(shape_.leaf_ports()),
                 .up = uplinks,
                 .are_known = uplinks != 0});

    Ports ports{.down = static_cast<double>(shape_.group_leaves()) * shape_.leaf_cables,
                .are_known = uplinks != 0};
    if (core_part) {
      ObjectReader core(*core_part, reader_.diagnostics());
      const bool fits = ports.are_known && ports.down <= kMostSwitchPorts;
      ports.up = read_core(core, spine, of_spine, fits ? shape_.spine_ports() : 0);
      reader_.resolve("core", core.finish());
    }
    check_ports(spine, of_spine, ports);
    reader_.resolve("leaf", leaf.finish());
    reader_.resolve("spine", spine.finish());
  }

  /// Returns the uplinks of a spine with so many ports down; 0 if either is not known.
  int read_core(ObjectReader& core, ObjectReader& spine, const ClosTierFields& of_spine,
                int spine_ports) {
    const ClosTierFields of_core =
        read_tier(core, ClosLevel::core, kCoreTier, plan_.spine.bandwidth);
    plan_.core = of_core.tier;
    const int uplinks = settled_uplinks(
        spine, of_spine,
        {.ports = spine_ports, .below = plan_.spine.bandwidth, .above = plan_.core.bandwidth});
    const bool is_known = settle_planes(core, of_core, uplinks, shape_) && spine_ports != 0;
    const int pods = std::max(shape_.pods(), most_units_.value_or(0) / shape_.units_per_pod);
    check_ports(core, of_core,
                {.down = static_cast<double>(pods) * shape_.groups_per_pod() *
                         shape_.spines_of_plane() * shape_.core_cables,
                 .are_known = is_known});
    return uplinks;
  }

  /// The ports of a switch of the full design. `down` is a double because it may be more than an
  /// int holds.
  struct Ports {
    double down = 0.0;
    int up = 0;
    bool are_known = false;
  };

  /// Reports a switch whose "ports" are fewer than it needs.
  static void check_ports(ObjectReader& tier, const ClosTierFields& given, const Ports& needed) {
    const int ports = given.ports.value_or(kMostSwitchPorts);
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

std::optional<Fabric> build_clos(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().errors();
  const ClosPlan plan = ClosReader(reader, request).read();
  if (reader.diagnostics().errors() != problems) return std::nullopt;
  if (!fits_in_memory(clos_cables(plan.shape), reader)) return std::nullopt;
  return clos_fabric(plan);
}

}  // namespace

FabricKind clos_kind() {
  return {"clos", build_clos, "d-mod-k", [] { return clos_fields().described(); }};
}

}  // namespace headway
