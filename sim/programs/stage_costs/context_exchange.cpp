#include "sim/programs/stage_costs/context_exchange.h"

#include "sim/jobs/strategy.h"
#include "sim/layers/exchanges.h"

namespace headway {
namespace {

Seconds ring_time(int ranks, const Profile& profile, const GroupLink& link, Bytes keys_and_values,
                  Seconds attention) {
  const Seconds transfer = (ranks - 1) * (keys_and_values / link.step.bandwidth);
  return max(transfer - attention, profile.overlap.context_parallel_floor.value * transfer) +
         (ranks - 1) * (link.overhead + link.step.latency);
}

}  // namespace

ContextExchange context_exchange(const Strategy& strategy, const Profile& profile,
                                 const GroupLink& link, const Layer& layer, const RankShape& shape,
                                 Seconds attention) {
  const int ranks = strategy.context_parallel;
  if (ranks == 1 || !layer.attention) return {};
  const ContextMessages messages = context_messages(layer, shape);
  if (strategy.context_parallel_method == ContextParallelMethod::ring) {
    const Seconds pass = ring_time(ranks, profile, link, messages.keys_and_values(), attention);
    return {pass, 2.0 * pass, profile.overlap.context_parallel_floor.value, attention};
  }
  const auto swap = [&](Bytes tensor) {
    return link.time(CollectiveKind::all_to_all, tensor, ranks);
  };
  const Seconds pass = swap(messages.queries) + swap(messages.keys) + swap(messages.values) +
                       swap(messages.outputs);
  return {pass, pass, 1.0, {}};
}

PassTraffic context_traffic(const Strategy& strategy, const Layer& layer, const RankShape& shape) {
  const int ranks = strategy.context_parallel;
  if (ranks == 1) return {};
  const ContextMessages messages = context_messages(layer, shape);
  if (strategy.context_parallel_method == ContextParallelMethod::ring) {
    const Bytes passed_on = (ranks - 1) * messages.keys_and_values();
    return {passed_on, 2.0 * passed_on};
  }
  return {messages.all(), messages.all()};
}

}  // namespace headway
