#include "sim/jobs/recompute/recompute.h"

#include <algorithm>

#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/kept_tensors.h"

namespace headway {

RecomputeParts recompute_parts(const Strategy& strategy) {
  RecomputeParts parts;
  switch (strategy.recompute) {
    case Recompute::none:
    case Recompute::full:
      break;
    case Recompute::activation:
      parts.add(RecomputePart::activation);
      break;
    case Recompute::selective:
      // Of a fused kernel nothing but the log-sum-exp is saved, and yet the whole kernel runs again:
      // Megatron-Core checkpoints the core of attention whatever computes it
      // (megatron/core/transformer/attention.py, checkpoint_core_attention).
      parts.add(strategy.fused_attention ? RecomputePart::core_attn : RecomputePart::scores);
      break;
    case Recompute::alternate:
      parts.add(RecomputePart::alternate);
      break;
    case Recompute::modules:
      for (const RecomputePart part : strategy.recompute_modules) parts.add(part);
      break;
  }
  return parts;
}

int recomputed_layers(const Strategy& strategy, int layers) {
  if (strategy.recompute == Recompute::none) return 0;
  return strategy.recompute_layers > 0 ? std::min(strategy.recompute_layers, layers) : layers;
}

Bytes recomputing_layer_bytes(const Layer& layer, const Strategy& strategy) {
  const RankShape shape = rank_shape_of(strategy);
  if (strategy.recompute == Recompute::full) return input_bytes(layer, shape);
  return kept_bytes(layer, shape, recompute_parts(strategy));
}

Bytes recomputed_bytes(const Layer& layer, const Strategy& strategy) {
  if (strategy.recompute == Recompute::none) return Bytes(0.0);
  const RankShape shape = rank_shape_of(strategy);
  // Full recomputation starts from the layer's input, which stays.
  return kept_bytes(layer, shape) - recomputing_layer_bytes(layer, strategy);
}

}  // namespace headway
