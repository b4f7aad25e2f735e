#include "sim/programs/stage_costs/group_link.h"

#include <algorithm>
#include <limits>

#include "sim/costs/measured_collective.h"
#include "sim/programs/flows/collective_price.h"

namespace headway {

Seconds GroupLink::time(CollectiveKind kind, Bytes message, int ranks) const {
  if (measured != nullptr) {
    const auto cost = measured_collective_cost(*measured, kind, message, ranks);
    if (cost) {
      const auto volume = collective_volume(kind, CollectiveAlgorithm::ring, ranks);
      return max(cost->time, volume.bytes_factor * message / wire);
    }
  }
  return overhead + collective_time(kind, CollectiveAlgorithm::ring, message, ranks, step);
}

GroupLink group_link(const NodeType& node, const Profile& profile, const GroupPlace& place,
                     double nics) {
  const NetworkCosts network = network_costs(profile, node);
  const BytesPerSecond inside = network.scale_up_efficiency * node.scale_up_bandwidth;
  if (!place.crosses()) {
    return {measured_curves(profile, node, false),
            network.scale_up_overhead,
            {network.scale_up_latency, inside},
            BytesPerSecond(std::numeric_limits<double>::infinity())};
  }
  const BytesPerSecond wire = nics * node.nic_bandwidth;
  const BytesPerSecond across = network.scale_out_efficiency * wire;
  return {measured_curves(profile, node, true),
          network.scale_out_overhead,
          {network.scale_out_latency, place.most() > 1 ? min(inside, across) : across},
          wire};
}

double nics_of_rank(const NodeType& node) {
  const int in_use = std::min(node.nics, node.accelerators * node.nics_of_accelerator);
  return static_cast<double>(in_use) / node.accelerators;
}

double nics_of_rings(const NodeType& node, const GroupPlace& place) {
  return std::max(1.0, nics_of_rank(node) * place.fewest());
}

}  // namespace headway
