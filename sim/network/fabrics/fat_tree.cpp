#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/network/fabrics/clos_topology.h"
#include "sim/network/fabrics/clos_widths.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"

namespace headway {

FabricBuilder build_fat_tree;

namespace {

constexpr int kMostPorts = 4096;  ///< of a switch

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
    const std::size_t problems = reader_.diagnostics().all().size();
    shape_.nics = request_.node_type.nics;
    shape_.by_rail = reader_.choice<bool>("attach", kAttachWords);
    ports_ = static_cast<int>(reader_.integer("ports", between(2, kMostPorts)));
    const double oversubscription = reader_.number("oversubscription", at_least(1.0), 1.0);
    const auto bandwidth =
        reader_.quantity<BytesPerSecond>("bandwidth", positive(), request_.node_type.nic_bandwidth);
    plan_.leaf = read_tier("leaf", bandwidth, kLeafCableLatency);
    plan_.spine = read_tier("spine", bandwidth, kSpineCableLatency);
    plan_.core = read_tier("core", bandwidth, kCoreCableLatency);
    shape_.nodes = requested_nodes(request_, reader_);
    const bool fits = reader_.diagnostics().all().size() == problems && read_unit(oversubscription);
    if (!fits || !(two_tiers() || three_tiers())) return std::nullopt;
    return plan_;
  }

 private:
  ClosTier read_tier(std::string_view key, BytesPerSecond bandwidth, Seconds cable_latency) {
    const auto empty = JsonDocument::parse(std::string(key), "{}", reader_.diagnostics());
    const std::optional<JsonCursor> part = reader_.part(key);
    ObjectReader tier(part ? *part : JsonCursor(empty), reader_.diagnostics());
    ClosTier read{
        .bandwidth = bandwidth,
        .cable_latency = tier.quantity<Seconds>("cable_latency", at_least(0.0), cable_latency),
        .switch_latency = tier.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)};
    reader_.resolve(key, tier.finish());
    return read;
  }

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
    const std::size_t problems = reader_.diagnostics().all().size();
    shape_.nodes_per_unit =
        static_cast<int>(reader_.integer("nodes_per_unit", between(1, most), most));
    shape_.units = (shape_.nodes + shape_.nodes_per_unit - 1) / shape_.nodes_per_unit;
    uplinks_ = uplinks_for(shape_.leaf_ports(), oversubscription);
    return reader_.diagnostics().all().size() == problems;
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

}  // namespace

std::optional<Fabric> build_fat_tree(ObjectReader& reader, const FabricRequest& request) {
  const std::optional<ClosPlan> plan = FatTreeReader(reader, request).read();
  if (!plan || !fits_in_memory(clos_cables(plan->shape), reader)) return std::nullopt;
  return clos_fabric(*plan);
}

}  // namespace headway
