#include "sim/programs/stage_costs/tensor_exchange.h"

#include <algorithm>

namespace headway {
namespace {

/// What is seen of a transfer that runs beside compute.
Seconds seen_beside(Seconds transfer, Seconds compute, double interference) {
  return max(transfer - compute, Seconds(0.0)) + interference * min(transfer, compute);
}

/// The layer's 16-bit input on one rank's tokens.
Bytes layer_input(const TransformerModel& model, const ShardShape& shard) {
  return Bytes(shard.tokens() * static_cast<double>(model.hidden) * 2.0);
}

/// In one pass: of attention, and of an MLP that is split.
double exchanges_of(const TransformerModel& model, LayerKind kind) {
  return !kind.experts || model.mixture_of_experts->shared_expert_hidden > 0 ? 2.0 : 1.0;
}

}  // namespace

TensorExchange tensor_exchange(const Strategy& strategy, const Profile& profile,
                               const GroupLink& link, const TransformerModel& model,
                               const ShardShape& shard, LayerKind kind,
                               const ColumnGradients& gradients) {
  const int ranks = strategy.tensor_parallel;
  if (ranks == 1) return {};
  const Bytes input = layer_input(model, shard);
  const auto time = [&](CollectiveKind collective) { return link.time(collective, input, ranks); };
  const double exchanges = exchanges_of(model, kind);
  if (!strategy.sequence_parallel) {
    const Seconds reduced = exchanges * time(CollectiveKind::all_reduce);
    if (!strategy.overlap_tensor_parallel_backward) return {reduced, reduced};
    return {reduced,
            seen_beside(reduced, gradients.weights, profile.overlap.sharded_interference.value)};
  }
  const Seconds gathered = exchanges * time(CollectiveKind::all_gather);
  const Seconds scattered = exchanges * time(CollectiveKind::reduce_scatter);
  const Seconds both = gathered + scattered;
  if (strategy.overlap_tensor_parallel_backward) {
    const double interference = profile.overlap.sharded_interference.value;
    return {both, gathered + seen_beside(gathered, gradients.data, interference) +
                      seen_beside(scattered, gradients.weights, interference)};
  }
  const double seen =
      strategy.tensor_parallel_overlap ? profile.overlap.tensor_parallel_overlapped.value : 1.0;
  return {seen * both, seen * both};
}

PassTraffic tensor_traffic(const Strategy& strategy, const TransformerModel& model,
                           const ShardShape& shard, LayerKind kind) {
  const double ranks = strategy.tensor_parallel;
  const Bytes once =
      exchanges_of(model, kind) * 2.0 * (ranks - 1.0) / ranks * layer_input(model, shard);
  const bool gathers_again =
      strategy.sequence_parallel && strategy.overlap_tensor_parallel_backward;
  return {once, (gathers_again ? 1.5 : 1.0) * once};
}

}  // namespace headway
