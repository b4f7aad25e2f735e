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
      // A fused kernel makes its scores again anyway.
      if (!strategy.fused_attention) parts.add(RecomputePart::scores);
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
