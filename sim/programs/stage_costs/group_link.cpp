#include "sim/programs/stage_costs/group_link.h"

#include <algorithm>

#include "sim/costs/measured_collective.h"
#include "sim/programs/flows/collective_price.h"

namespace headway {

Seconds GroupLink::time(CollectiveKind kind, Bytes message, int ranks) const {
  if (measured != nullptr) {
    const auto cost = measured_collective_cost(*measured, kind, message, ranks);
    if (cost) return cost->time;
  }
  return overhead + collective_time(kind, CollectiveAlgorithm::ring, message, ranks, step);
}

GroupLink group_link(const Cluster& cluster, const Profile& profile, int ranks, double nics,
                     double fabric_share) {
  const NetworkCosts network = network_costs(profile);
  const BytesPerSecond inside = network.scale_up_efficiency * cluster.node_type.scale_up_bandwidth;
  if (ranks <= cluster.scale_up_domain) {
    return {measured_curves(profile, cluster.node_type, false),
            network.scale_up_overhead,
            {network.scale_up_latency, inside}};
  }
  const bool fabric_binds = fabric_share < network.scale_out_efficiency;
  const BytesPerSecond across =
      std::min(fabric_share, network.scale_out_efficiency) * nics * cluster.node_type.nic_bandwidth;
  return {fabric_binds ? nullptr : measured_curves(profile, cluster.node_type, true),
          network.scale_out_overhead,
          {network.scale_out_latency, cluster.scale_up_domain > 1 ? min(inside, across) : across}};
}

double nics_of_rank(const Cluster& cluster) {
  return static_cast<double>(cluster.node_type.nics) / cluster.node_type.accelerators;
}

double nics_of_domain(const Cluster& cluster) {
  return std::max(1.0, nics_of_rank(cluster) * cluster.scale_up_domain);
}

}  // namespace headway
