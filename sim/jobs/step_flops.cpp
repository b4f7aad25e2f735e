#include "sim/jobs/step_flops.h"

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/flops.h"

namespace headway {
namespace {

constexpr double kPasses = 3.0;  ///< forward, gradient of the input, gradient of the weights

/// What a token makes again in all layers that recompute. Memory passes are not counted.
Flops recomputed_flops(const Model& model, const Strategy& strategy, std::int64_t reach) {
  const RecomputeParts parts = recompute_parts(strategy);
  std::vector<Flops> kinds;
  for (const Layer& layer : model.kinds) {
    kinds.push_back(strategy.recompute == Recompute::full ? forward_flops(layer, reach).total()
                                                          : recomputed_flops(layer, reach, parts));
  }
  const auto of_kind = [&](int kind) { return kinds[static_cast<std::size_t>(kind)]; };
  Flops sum;
  for (const LayerRange& range : chunk_layers(model, strategy)) {
    const int recomputed = recomputed_layers(strategy, range.count);
    for (int layer = range.first; layer < range.first + recomputed; ++layer) {
      sum += of_kind(model.kind_of(layer));
    }
  }
  if (model.ahead.layers > 0 && strategy.recompute != Recompute::none) {
    sum += model.ahead.layers * of_kind(model.ahead.kind);
  }
  return sum;
}

}  // namespace

StepFlops step_flops(const Model& model, const Strategy& strategy) {
  const double tokens = static_cast<double>(strategy.global_batch * strategy.sequence_length);
  const std::int64_t reach = strategy.attention_length();
  const ForwardFlops forward = forward_flops(model, reach);
  StepFlops flops;
  flops.model = kPasses * tokens * forward.total();
  flops.model_whole_square = kPasses * tokens * forward.whole_square();
  if (trains_adapters(strategy)) {
    // Frozen products have no third pass; attention, which has no weights, keeps its own.
    flops.model -= tokens * Flops(forward.products);
    flops.model_whole_square -= tokens * Flops(forward.products);
  }
  flops.hardware = flops.model + tokens * recomputed_flops(model, strategy, reach);
  return flops;
}

}  // namespace headway
