#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/network/fabrics/clos_widths.h"

namespace headway {

namespace {

constexpr int kMostPorts = 4096;  ///< of a switch
constexpr int kMostUnitNodes = 1 << 20;

/// A fabric as a file has it.
struct FatTreeFields {
  bool by_rail = false;
  int ports = 2;
  double oversubscription = 1.0;
  BytesPerSecond bandwidth;
  ClosTier leaf;
  ClosTier spine = kSpineTier;
  ClosTier core = kCoreTier;
};

const FieldTable<ClosTier>& fat_tree_tier_fields() {
  static const FieldTable<ClosTier> kFields(
      {{"cable_latency", quantity(&ClosTier::cable_latency, at_least(0.0)),
        kFabricCableLatencyNotes},
       {"switch_latency", quantity(&ClosTier::switch_latency, at_least(0.0)),
        kFabricSwitchLatencyNotes}});
  return kFields;
}

FieldMember<FatTreeFields> tier(ClosTier FatTreeFields::*member, const ClosTier& defaults = {}) {
  return part(member, fat_tree_tier_fields).made_of(fat_tree_tier_fields().described(defaults));
}

const FieldTable<FatTreeFields>& fat_tree_fields() {
  using Fields = FatTreeFields;
  static const FieldTable<Fields> kFields(
      {{"attach", word(&Fields::by_rail, kAttachWords).required(), kAttachNotes},
       {"ports", whole(&Fields::ports, between(2, kMostPorts)).required(),
        "Of a switch; the shape of a fat_tree follows from it."},
       {"oversubscription", number(&Fields::oversubscription, at_least(1.0)),
        R"(Bandwidth below a full leaf over bandwidth above it. Above the leaves there is none.
see: topology.fabric.nodes_per_unit)"},
       {"bandwidth", quantity(&Fields::bandwidth, positive()), kFabricBandwidthNotes},
       {"leaf", tier(&Fields::leaf),
        R"(The switches that nodes are cabled to.
default: {})"},
       {"spine", tier(&Fields::spine, kSpineTier),
        R"(The switches that join leaves.
default: {})"},
       {"core", tier(&Fields::core, kCoreTier),
        R"(The switches that join pods.
default: {})"},
       {"nodes_per_unit", elsewhere<Fields>(whole_type(between(1, kMostUnitNodes))),
        R"(Nodes on the same leaf switches (a scalable unit, a rack).
default: as many as a leaf has room for)"}});
  return kFields;
}

/// The cables above so many ports, the last one shared out in full.
int uplinks_for(int down, double oversubscription) {
  return static_cast<int>(std::ceil(down / oversubscription * (1.0 - 1e-12)));
}

/// A Clos fabric of switches that are all alike, as large as its nodes need and no larger.
///
/// - A leaf gives `down` ports to nodes and down / oversubscription, rounded up, to spines.
/// - Two tiers hold as many leaves as a switch has ports P. Cables between a leaf and a spine are
///   the largest divisor c of the uplinks u with leaves x c <= P: u / c spines, each cabled alike
///   to every leaf. That is how the DGX SuperPOD grows (RA-11333-001: units of 32 nodes on 64
///   ports; 8, 16, 24, 32 leaves and 4, 8, 16, 16 spines).
/// - Three tiers from there on (Al-Fares, Loukissas and Vahdat 2008, "A scalable, commodity data
///   center network architecture"): pods of floor(P / 2 / rails) units, a cable from each leaf to
///   each spine of its pod, as many cables above a spine as below it; a plane of cores for each
///   spine of a pod, whose width follows from the pods as that of the spines did from the leaves.
class FatTreeReader {
 public:
  FatTreeReader(ObjectReader& reader, const FabricRequest& request)
      : reader_(reader), request_(request) {}

  /// What was read, if it makes a fabric.
  std::optional<ClosPlan> read() {
    const std::size_t problems = reader_.diagnostics().errors();
    FatTreeFields given{.bandwidth = request_.node_type.nic_bandwidth};
    fat_tree_fields().read(reader_, given);
    shape_.nics = request_.node_type.nics;
    shape_.by_rail = given.by_rail;
    ports_ = given.ports;
    plan_.leaf = given.leaf;
    plan_.spine = given.spine;
    plan_.core = given.core;
    for (ClosTier* tier : {&plan_.leaf, &plan_.spine, &plan_.core}) {
      tier->bandwidth = given.bandwidth;
    }
    shape_.nodes = requested_nodes(request_, reader_);
    const bool fits =
        reader_.diagnostics().errors() == problems && read_unit(given.oversubscription);
    if (!fits || !(two_tiers() || three_tiers())) return std::nullopt;
    return plan_;
  }

 private:
  /// Nodes of a unit, by default as many as a leaf has room for, and what is above them.
  bool read_unit(double oversubscription) {
    const int ports_of_node = shape_.by_rail ? 1 : shape_.nics;
    int most = static_cast<int>(ports_ * oversubscription / (1.0 + oversubscription) + 1e-9);
    most /= ports_of_node;
    if (most < 1) {
      reader_.report("ports", "the switches have too few ports",
                     fmt::format("a leaf has no room for the {} of a node", ports_of_node));
      return false;
    }
    const std::size_t problems = reader_.diagnostics().errors();
    shape_.nodes_per_unit =
        static_cast<int>(reader_.integer("nodes_per_unit", between(1, most), most));
    shape_.units = (shape_.nodes + shape_.nodes_per_unit - 1) / shape_.nodes_per_unit;
    uplinks_ = uplinks_for(shape_.leaf_ports(), oversubscription);
    if (reader_.diagnostics().errors() != problems) return false;
    warn_of_room(oversubscription);
    return true;
  }

  /// Who asks for oversubscription means that of the nodes there are, not of full leaves.
  void warn_of_room(double oversubscription) {
    constexpr double kClose = 0.9;
    const int room = shape_.units * shape_.nodes_per_unit;
    const double served = static_cast<double>(shape_.leaf_ports()) * shape_.nodes / room;
    const double built = served / uplinks_;
    const auto given = reader_.cursor().member("oversubscription");
    if (oversubscription <= 1.0 || built >= kClose * oversubscription || !given) return;
    Diagnostic warning = given->problem(
        "the leaves are less oversubscribed than that, as they are not full",
        fmt::format("{:.3g}:1 for {} nodes where {} have room", built, shape_.nodes, room),
        fmt::format("\"nodes_per_unit\": {} fills them",
                    (shape_.nodes + shape_.units - 1) / shape_.units));
    warning.severity = Severity::warning;
    reader_.diagnostics().add(std::move(warning));
  }

  bool two_tiers() {
    if (shape_.leaves() > ports_) return false;
    shape_.units_per_pod = shape_.units;
    shape_.leaf_cables = largest_divisor(uplinks_, ports_ / shape_.leaves());
    shape_.spines = uplinks_ / shape_.leaf_cables;
    return true;
  }

  bool three_tiers() {
    shape_.has_core = true;
    shape_.units_per_pod = ports_ / 2 / shape_.rails();
    if (shape_.units_per_pod < 1) {
      reader_.report("ports", "the switches have too few ports",
                     fmt::format("a spine cannot reach the {} leaves of a unit", shape_.rails()));
      return false;
    }
    shape_.leaf_cables = 1;
    shape_.spines = uplinks_;
    shape_.planes = shape_.spines;
    if (shape_.pods() > ports_) {
      const std::int64_t room = std::int64_t{ports_} * shape_.units_per_pod * shape_.nodes_per_unit;
      reader_.report(
          "ports",
          fmt::format("three tiers of such switches hold {} nodes, not {}", room, shape_.nodes),
          fmt::format("{} pods of {} units of {} nodes", ports_, shape_.units_per_pod,
                      shape_.nodes_per_unit));
      return false;
    }
    const int spine_uplinks = shape_.group_leaves();
    shape_.core_cables = largest_divisor(spine_uplinks, ports_ / shape_.pods());
    shape_.cores = spine_uplinks / shape_.core_cables;
    return true;
  }

  ObjectReader& reader_;
  const FabricRequest& request_;
  ClosPlan plan_;
  ClosShape& shape_ = plan_.shape;
  int ports_ = 2;
  int uplinks_ = 1;  ///< of a leaf
};

std::optional<Fabric> build_fat_tree(ObjectReader& reader, const FabricRequest& request) {
  const std::optional<ClosPlan> plan = FatTreeReader(reader, request).read();
  if (!plan || !fits_in_memory(clos_cables(plan->shape), reader)) return std::nullopt;
  return clos_fabric(*plan);
}

}  // namespace

FabricKind fat_tree_kind() {
  return {"fat_tree", build_fat_tree, "d-mod-k", [] { return fat_tree_fields().described(); }};
}

}  // namespace headway
