#include "sim/programs/stage_costs/tensor_exchange.h"

#include <algorithm>

#include "sim/jobs/strategy.h"
#include "sim/layers/exchanges.h"

namespace headway {
namespace {

/// What is seen of a transfer that runs beside compute.
Seconds seen_beside(Seconds transfer, Seconds compute, double interference) {
  return max(transfer - compute, Seconds(0.0)) + interference * min(transfer, compute);
}

Bytes message_of(CollectiveKind collective, const TensorExchange& exchange,
                 const RankShape& shape) {
  return collective == CollectiveKind::all_gather ? gathered_message(exchange, shape)
                                                  : tensor_message(exchange, shape);
}

double share_of(Seconds seen, Seconds all) { return all > Seconds(0.0) ? seen / all : 1.0; }

}  // namespace

TensorExchangeTime tensor_exchange(const Strategy& strategy, const Profile& profile,
                                   const GroupLink& link, const Layer& layer,
                                   const RankShape& shape, const ColumnGradients& gradients) {
  const int ranks = strategy.tensor_parallel;
  if (ranks == 1) return {};
  const auto time = [&](CollectiveKind collective) {
    Seconds sum;
    for (const TensorExchange& exchange : layer.exchanges) {
      sum += link.time(collective, message_of(collective, exchange, shape), ranks);
    }
    return sum;
  };
  if (!strategy.sequence_parallel) {
    const Seconds reduced = time(CollectiveKind::all_reduce);
    if (!strategy.overlap_tensor_parallel_backward) return {reduced, reduced};
    const Seconds seen =
        seen_beside(reduced, gradients.weights, profile.overlap.sharded_interference.value);
    return {reduced, seen, 1.0, share_of(seen, reduced)};
  }
  const Seconds gathered = time(CollectiveKind::all_gather);
  const Seconds scattered = time(CollectiveKind::reduce_scatter);
  const Seconds both = gathered + scattered;
  if (strategy.overlap_tensor_parallel_backward) {
    const double interference = profile.overlap.sharded_interference.value;
    const Seconds seen = gathered + seen_beside(gathered, gradients.data, interference) +
                         seen_beside(scattered, gradients.weights, interference);
    return {both, seen, 1.0, share_of(seen, gathered + both)};
  }
  const double seen =
      strategy.tensor_parallel_overlap ? profile.overlap.tensor_parallel_overlapped.value : 1.0;
  return {seen * both, seen * both, seen, seen};
}

PassTraffic tensor_traffic(const Strategy& strategy, const Layer& layer, const RankShape& shape) {
  const double ranks = strategy.tensor_parallel;
  Bytes gathered;
  Bytes reduced;
  for (const TensorExchange& exchange : layer.exchanges) {
    gathered += (ranks - 1.0) / ranks * gathered_message(exchange, shape);
    reduced += (ranks - 1.0) / ranks * tensor_message(exchange, shape);
  }
  const bool gathers_again =
      strategy.sequence_parallel && strategy.overlap_tensor_parallel_backward;
  return {gathered + reduced, (gathers_again ? 2.0 : 1.0) * gathered + reduced};
}

}  // namespace headway
