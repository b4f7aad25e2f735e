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

/// Of a layer's products: what goes into those of split outputs, and what those of split inputs
/// give.
enum class Side { inputs, results };

bool is_at(Side side, const TensorExchange& exchange) {
  return side == Side::inputs || !exchange.only_enters;
}

double share_of(Seconds seen, Seconds all) { return all > Seconds(0.0) ? seen / all : 1.0; }

}  // namespace

TensorExchangeTime tensor_exchange(const Strategy& strategy, const Profile& profile,
                                   const GroupLink& link, const Layer& layer,
                                   const RankShape& shape, const ColumnGradients& gradients) {
  const int ranks = strategy.tensor_parallel;
  if (ranks == 1) return {};
  const auto time = [&](CollectiveKind collective, Side side) {
    Seconds sum;
    for (const TensorExchange& exchange : layer.exchanges) {
      if (!is_at(side, exchange)) continue;
      sum += link.time(collective, message_of(collective, exchange, shape), ranks);
    }
    return sum;
  };
  const bool overlaps = strategy.overlap_tensor_parallel_backward;
  const double interference = profile.overlap.sharded_interference.value;
  if (!strategy.sequence_parallel) {
    const Seconds results = time(CollectiveKind::all_reduce, Side::results);
    const Seconds gradients_of_inputs = time(CollectiveKind::all_reduce, Side::inputs);
    if (!overlaps) return {results, gradients_of_inputs};
    const Seconds seen = seen_beside(gradients_of_inputs, gradients.weights, interference);
    return {results, seen, 1.0, share_of(seen, gradients_of_inputs)};
  }
  const Seconds inputs = time(CollectiveKind::all_gather, Side::inputs);
  const Seconds results = time(CollectiveKind::reduce_scatter, Side::results);
  const Seconds gradients_of_results = time(CollectiveKind::all_gather, Side::results);
  const Seconds gradients_of_inputs = time(CollectiveKind::reduce_scatter, Side::inputs);
  const Seconds forward = inputs + results;
  if (overlaps) {
    const Seconds seen = gradients_of_results + seen_beside(inputs, gradients.data, interference) +
                         seen_beside(gradients_of_inputs, gradients.weights, interference);
    return {forward, seen, 1.0,
            share_of(seen, gradients_of_results + (inputs + gradients_of_inputs))};
  }
  const double seen =
      strategy.tensor_parallel_overlap ? profile.overlap.tensor_parallel_overlapped.value : 1.0;
  return {seen * forward, seen * (gradients_of_results + gradients_of_inputs), seen, seen};
}

PassTraffic tensor_traffic(const Strategy& strategy, const Layer& layer, const RankShape& shape) {
  const double ranks = strategy.tensor_parallel;
  const auto sent = [&](Bytes (*message)(const TensorExchange&, const RankShape&), Side side) {
    Bytes sum;
    for (const TensorExchange& exchange : layer.exchanges) {
      if (is_at(side, exchange)) sum += (ranks - 1.0) / ranks * message(exchange, shape);
    }
    return sum;
  };
  const Bytes results = sent(tensor_message, Side::results);
  const Bytes gradients_of_inputs = sent(tensor_message, Side::inputs);
  const Bytes gathered_results = sent(gathered_message, Side::results);
  const Bytes gathered_inputs = sent(gathered_message, Side::inputs);
  if (!strategy.sequence_parallel) {
    return {gathered_results + results, gathered_inputs + gradients_of_inputs};
  }
  const Bytes again = strategy.overlap_tensor_parallel_backward ? gathered_inputs : Bytes(0.0);
  return {gathered_inputs + results, gathered_results + again + gradients_of_inputs};
}

}  // namespace headway
