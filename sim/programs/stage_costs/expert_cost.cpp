#include "sim/programs/stage_costs/expert_cost.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/exchanges.h"
#include "sim/programs/stage_costs/group_link.h"

namespace headway {
namespace {

constexpr double kThereAndBack = 2.0;

/// At least one of so many choices falls on a part of what is chosen from.
double is_met(double part, double choices) { return 1.0 - std::pow(1.0 - part, choices); }

/// A token's `chosen` of `groups` have `among` of those that a domain holds: hypergeometric.
double chosen_among(int groups, int held, int chosen, int among) {
  const auto ways = [](int n, int k) {
    double product = 1.0;
    for (int i = 0; i < k; ++i) product *= static_cast<double>(n - i) / (k - i);
    return product;
  };
  return ways(held, among) * ways(groups - held, chosen - among) / ways(groups, chosen);
}

/// A domain with so many of an expert-parallel group's ranks is visited by a token, whose router
/// prefers no group of experts and no expert in the groups that it chose.
double visited(const ExpertRouting& routing, double of_domain, double ranks) {
  const double choices = routing.experts_per_token;
  const double held = of_domain / ranks * routing.groups;
  const double chosen = routing.groups_per_token;
  if (held <= 1.0) return chosen / routing.groups * is_met(held / chosen, choices);
  // Parts of groups at the ends of a domain are few: between whole numbers of groups on a line.
  const auto of_whole = [&](double whole) {
    const auto groups = static_cast<int>(routing.groups);
    const auto most = static_cast<int>(std::min(whole, chosen));
    double sum = 0.0;
    for (int among = 1; among <= most; ++among) {
      sum += chosen_among(groups, static_cast<int>(whole), static_cast<int>(chosen), among) *
             is_met(among / chosen, choices);
    }
    return sum;
  };
  const double below = std::floor(held);
  return of_whole(below) + (held - below) * (of_whole(std::ceil(held)) - of_whole(below));
}

}  // namespace

double crossing_part(const Strategy& strategy, const GroupPlace& place,
                     const ExpertRouting& routing, int from, int to) {
  const double ranks = place.ranks();
  if (strategy.expert_dispatch == ExpertDispatch::all_to_all) return from * (to / ranks);
  return from * visited(routing, to, ranks) / routing.experts_per_token;
}

ExpertTraffic expert_traffic(const Layer& layer, const Strategy& strategy, const GroupPlace& place,
                             const RankShape& shape) {
  const double ranks = strategy.expert_parallel;
  const Bytes routed = routed_message(layer, shape);
  ExpertTraffic traffic{.exchanged = (ranks - 1.0) / ranks * routed};
  if (!place.crosses()) return traffic;
  // The busiest are those that receive in the smallest domain: all others send there, to the
  // fewest, each of whom is sent to the more often the fewer they are.
  const int fewest = place.fewest();
  const double busiest =
      crossing_part(strategy, place, *layer.routing, place.ranks() - fewest, fewest) / fewest;
  traffic.across_domains = busiest * routed;
  return traffic;
}

namespace {

/// To the experts and back.
void exchange_tokens(const Layer& layer, const RankShape& shape, const ExpertRanks& ranks,
                     Seconds compute, ExpertExchange& exchange) {
  const auto& [strategy, profile, node, places, wire_efficiency] = ranks;
  const ExpertCosts& costs = *profile.experts;
  const GroupPlace& place = places[ExchangeKind::experts];
  const ExpertTraffic traffic = expert_traffic(layer, strategy, place, shape);
  const double busiest = std::max(1.0, expert_load(layer.routing->experts, shape));
  exchange.routed = kThereAndBack / busiest * routed_message(layer, shape);
  Seconds inside;
  if (place.most() > 1) {
    inside = traffic.exchanged / (costs.exchange_scale_up.value * node.scale_up_bandwidth);
  }
  Seconds across;
  Seconds on_wire;
  if (traffic.across_domains > Bytes(0.0)) {
    const BytesPerSecond nics = nics_of_rank(node) * node.nic_bandwidth;
    across = traffic.across_domains / (costs.exchange_scale_out.value * nics);
    on_wire = traffic.across_domains / (wire_efficiency * nics);
    exchange.wire = routed_message(layer, shape) / on_wire;
  }
  exchange.transfer = kThereAndBack * max(inside, across);
  exchange.share_seen = strategy.overlap_expert_exchange ? costs.exchange_seen_overlapped.value
                                                         : costs.exchange_seen.value;
  const Seconds shown =
      exchange.share_seen *
      (kThereAndBack * Seconds(costs.exchange_overhead.value) + exchange.transfer);
  exchange.seen = max(shown, kThereAndBack * on_wire - compute);
}

/// Between ranks that split an expert.
void exchange_slices(const Layer& layer, const RankShape& shape, const ExpertRanks& ranks,
                     ExpertExchange& exchange) {
  const int parts = ranks.strategy.expert_tensor_parallel;
  const GroupPlace& place = ranks.places[ExchangeKind::expert_slices];
  const GroupLink link =
      group_link(ranks.node, ranks.profile, place, nics_of_rings(ranks.node, place));
  const Bytes rows = parts * routed_message(layer, shape);
  exchange.slices = link.time(CollectiveKind::all_gather, rows, parts) +
                    link.time(CollectiveKind::reduce_scatter, rows, parts);
  exchange.slice_bytes = 2.0 * (parts - 1.0) / parts * rows;
}

}  // namespace

ExpertExchange expert_exchange(const Layer& layer, const RankShape& shape, const ExpertRanks& ranks,
                               Seconds compute) {
  HEADWAY_CHECK(ranks.profile.experts.has_value(), "experts are not in the profile");
  ExpertExchange exchange;
  if (ranks.strategy.expert_parallel > 1) exchange_tokens(layer, shape, ranks, compute, exchange);
  if (ranks.strategy.expert_tensor_parallel > 1) exchange_slices(layer, shape, ranks, exchange);
  return exchange;
}

}  // namespace headway
