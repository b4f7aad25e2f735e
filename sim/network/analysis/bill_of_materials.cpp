#include "sim/network/analysis/bill_of_materials.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace headway {
namespace {

constexpr double kSecondsPerMetre = 5e-9;  ///< as in latency_defaults.h

/// The length of the cable alone: the switch at the receiving end takes its part of a link's
/// latency. To a centimetre, which is less than anybody cuts them to.
double metres_of(const Topology& topology, LinkId link) {
  const Seconds of_switch = topology.forwarding_latency(topology.link(link).to);
  const double latency = (topology.latency(link) - of_switch).count();
  return std::round(std::max(latency, 0.0) / kSecondsPerMetre * 100.0) / 100.0;
}

bool is_optical(CableKind kind) {
  return kind == CableKind::multimode || kind == CableKind::single_mode;
}

}  // namespace

CableKind cable_kind(double metres) {
  return std::ranges::find_if(kCableReaches,
                              [&](const CableReach& reach) { return metres <= reach.metres; })
      ->kind;
}

std::string_view cable_name(CableKind kind) {
  return kCableReaches.at(static_cast<std::size_t>(kind)).name;
}

std::int64_t BillOfMaterials::all_switches() const {
  return std::accumulate(switches.begin(), switches.end(), std::int64_t{0});
}

std::int64_t BillOfMaterials::all_cables() const {
  std::int64_t sum = 0;
  for (const Cables& of_a_kind : cables) sum += of_a_kind.count;
  return sum;
}

std::int64_t BillOfMaterials::transceivers() const {
  std::int64_t sum = 0;
  for (const Cables& of_a_kind : cables) {
    if (is_optical(of_a_kind.kind)) sum += 2 * of_a_kind.count;
  }
  return sum;
}

BillOfMaterials bill_of_materials(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  BillOfMaterials bill{.nodes = cluster.nodes,
                       .accelerators = cluster.accelerators(),
                       .nics = std::int64_t{cluster.nodes} * cluster.node_type.nics};
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    if (!topology.is_switch(vertex)) continue;
    const auto tier = static_cast<std::size_t>(topology.tier(vertex));
    if (tier >= bill.switches.size()) bill.switches.resize(tier + 1);
    ++bill.switches[tier];
  }
  std::map<std::tuple<int, int, double, BytesPerSecond>, std::int64_t> counts;
  for (LinkId link = 0; link < topology.link_count(); link += 2) {
    const int from = topology.tier(topology.link(link).from);
    const int to = topology.tier(topology.link(link).to);
    ++counts[{std::min(from, to), std::max(from, to), metres_of(topology, link),
              topology.link(link).capacity}];
  }
  for (const auto& [key, count] : counts) {
    const auto& [lower, upper, metres, bandwidth] = key;
    bill.cables.push_back({.lower_tier = lower,
                           .upper_tier = upper,
                           .kind = cable_kind(metres),
                           .metres = metres,
                           .bandwidth = bandwidth,
                           .count = count});
  }
  return bill;
}

}  // namespace headway
