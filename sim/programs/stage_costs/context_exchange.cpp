#include "sim/programs/stage_costs/context_exchange.h"

namespace headway {
namespace {

constexpr double kElement = 2.0;  ///< bytes of an activation

/// Of that many heads, for the tokens of a rank.
Bytes heads_tensor(std::int64_t heads, const TransformerModel& model, const ShardShape& shard) {
  return Bytes(static_cast<double>(heads * model.head_size) / shard.tensor_parallel *
               shard.tokens() * kElement);
}

Seconds ring_time(int ranks, const Profile& profile, const GroupLink& link, Bytes keys_and_values,
                  Seconds attention) {
  const Seconds transfer = (ranks - 1) * (keys_and_values / link.step.bandwidth);
  return max(transfer - attention, profile.overlap.context_parallel_floor.value * transfer) +
         (ranks - 1) * (link.overhead + link.step.latency);
}

}  // namespace

ContextExchange context_exchange(const Strategy& strategy, const Profile& profile,
                                 const GroupLink& link, const TransformerModel& model,
                                 const ShardShape& shard, Seconds attention) {
  const int ranks = strategy.context_parallel;
  if (ranks == 1) return {};
  if (strategy.context_parallel_method == ContextParallelMethod::ring) {
    const Bytes keys_and_values = 2.0 * heads_tensor(model.kv_heads, model, shard);
    const Seconds pass = ring_time(ranks, profile, link, keys_and_values, attention);
    return {pass, 2.0 * pass};
  }
  const auto swap = [&](std::int64_t heads) {
    return link.time(CollectiveKind::all_to_all, heads_tensor(heads, model, shard), ranks);
  };
  const Seconds pass = 2.0 * swap(model.attention_heads) + 2.0 * swap(model.kv_heads);
  return {pass, pass};
}

PassTraffic context_traffic(const Strategy& strategy, const TransformerModel& model,
                            const ShardShape& shard) {
  const int ranks = strategy.context_parallel;
  if (ranks == 1) return {};
  const Bytes keys_and_values = 2.0 * heads_tensor(model.kv_heads, model, shard);
  if (strategy.context_parallel_method == ContextParallelMethod::ring) {
    const Bytes passed_on = (ranks - 1) * keys_and_values;
    return {passed_on, 2.0 * passed_on};
  }
  const Bytes swapped = 2.0 * heads_tensor(model.attention_heads, model, shard) + keys_and_values;
  return {swapped, swapped};
}

}  // namespace headway
