#include "sim/programs/stage_costs/expert_cost.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/layers/exchanges.h"
#include "sim/programs/stage_costs/group_link.h"

namespace headway {
namespace {

constexpr double kThereAndBack = 2.0;

/// Copies of a token that cross from its domain to others, for each of its k experts.
double crossing_share(const Strategy& strategy, double domains, double experts_per_token) {
  const double elsewhere = (domains - 1.0) / domains;
  if (strategy.expert_dispatch == ExpertDispatch::all_to_all) return elsewhere;
  const double visited = domains * (1.0 - std::pow(1.0 - 1.0 / domains, experts_per_token));
  return visited * elsewhere / experts_per_token;
}

}  // namespace

ExpertTraffic expert_traffic(const Layer& layer, const Strategy& strategy, const Cluster& cluster,
                             const RankShape& shape) {
  const double ranks = strategy.expert_parallel;
  const Bytes routed = routed_message(layer, shape);
  ExpertTraffic traffic{.exchanged = (ranks - 1.0) / ranks * routed};
  const double domains = static_cast<double>(strategy.expert_group()) / cluster.scale_up_domain;
  if (domains > 1.0 && strategy.expert_parallel > 1) {
    traffic.across_domains =
        crossing_share(strategy, domains, layer.routing->experts_per_token) * routed;
  }
  return traffic;
}

Seconds seen_expert_exchange(const Layer& layer, const Strategy& strategy, const Profile& profile,
                             const Cluster& cluster, const RankShape& shape, Seconds compute,
                             double fabric_share) {
  HEADWAY_CHECK(profile.experts.has_value(), "experts are not in the profile");
  const ExpertCosts& costs = *profile.experts;
  Seconds time;
  if (strategy.expert_parallel > 1) {
    const ExpertTraffic traffic = expert_traffic(layer, strategy, cluster, shape);
    Seconds inside;
    if (cluster.scale_up_domain > 1) {
      inside = traffic.exchanged /
               (costs.exchange_scale_up.value * cluster.node_type.scale_up_bandwidth);
    }
    Seconds across;
    Seconds on_wire;
    if (traffic.across_domains > Bytes(0.0)) {
      const BytesPerSecond nics = nics_of_rank(cluster) * cluster.node_type.nic_bandwidth;
      across =
          traffic.across_domains / (std::min(fabric_share, costs.exchange_scale_out.value) * nics);
      on_wire = traffic.across_domains / (fabric_share * nics);
    }
    const Seconds exchange = Seconds(costs.exchange_overhead.value) + max(inside, across);
    const double seen = strategy.overlap_expert_exchange ? costs.exchange_seen_overlapped.value
                                                         : costs.exchange_seen.value;
    time += max(kThereAndBack * seen * exchange, kThereAndBack * on_wire - compute);
  }
  if (strategy.expert_tensor_parallel > 1) {
    const int parts = strategy.expert_tensor_parallel;
    const GroupLink link = group_link(cluster, profile, parts, nics_of_domain(cluster));
    const Bytes rows = parts * routed_message(layer, shape);
    time += link.time(CollectiveKind::all_gather, rows, parts) +
            link.time(CollectiveKind::reduce_scatter, rows, parts);
  }
  return time;
}

}  // namespace headway
