#include "sim/result/speed.h"

#include <array>

#include "sim/jobs/adapters.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/models/operators.h"

namespace headway {
namespace {

constexpr double kPasses = 3.0;  ///< forward, gradient of the input, gradient of the weights

/// Of all layers, how many recompute.
double recomputed_share(const TransformerModel& model, const Strategy& strategy) {
  int recomputed = 0;
  for (const int layers : layers_of_chunks(strategy, model.layers)) {
    recomputed += recomputed_layers(strategy, layers);
  }
  return recomputed / static_cast<double>(model.layers);
}

/// What a token makes again if all layers recompute. Memory passes are not counted.
Flops recomputed_flops(const TransformerModel& model, const Strategy& strategy, Flops causal,
                       Flops attention) {
  if (strategy.recompute == Recompute::full) {
    // The output head stands outside the recomputed layers: 2 h V a token.
    return causal - Flops(2.0 * static_cast<double>(model.hidden * model.vocabulary));
  }
  const RecomputePlan plan = recompute_plan(strategy);
  const std::array<int, kLayerKinds> counts =
      kinds_of_layers(model, {0, static_cast<int>(model.layers)});
  Flops products;
  for (const LayerKind kind : layer_kinds()) {
    if (counts[kind.index()] == 0) continue;
    const Operators operators = layer_operators(model, {}, kind);
    double layer = 0.0;
    for (const LinearOperator& linear : operators.linears) {
      layer += plan.operator_share(linear.name) * linear.forward.flops();
    }
    for (const GroupedOperator& grouped : operators.grouped) {
      layer += plan.operator_share(grouped.name) * grouped.experts * grouped.forward.flops();
    }
    products += Flops(counts[kind.index()] * layer);
  }
  return products + plan.operator_share(kAttentionCore) * attention;
}

}  // namespace

StepFlops step_flops(const TransformerModel& model, const Strategy& strategy) {
  const double tokens = static_cast<double>(strategy.global_batch * strategy.sequence_length);
  const std::int64_t reach = strategy.attention_length();
  const Flops causal = forward_flops_per_token(model, reach, true);
  const Flops whole = forward_flops_per_token(model, reach, false);
  const Flops attention = whole - causal;  // half of the whole square
  StepFlops flops;
  flops.model = kPasses * tokens * causal;
  flops.model_whole_square = kPasses * tokens * whole;
  if (trains_adapters(strategy)) {
    // Frozen products have no third pass; attention, which has no weights, keeps its own.
    flops.model -= tokens * (causal - attention);
    flops.model_whole_square -= tokens * (causal - attention);
  }
  flops.hardware = flops.model;
  flops.hardware += tokens * recomputed_share(model, strategy) *
                    recomputed_flops(model, strategy, causal, attention);
  return flops;
}

void set_speed(Prediction& prediction, const TransformerModel& model, const Strategy& strategy,
               FlopsPerSecond peak) {
  const double seconds = prediction.iteration_time.count();
  const double accelerators = strategy.ranks();
  const StepFlops flops = step_flops(model, strategy);
  const FlopsPerSecond all = accelerators * peak;
  prediction.micro_batches = strategy.micro_batches();
  prediction.samples_per_second = static_cast<double>(strategy.global_batch) / seconds;
  prediction.tokens_per_second =
      prediction.samples_per_second * static_cast<double>(strategy.sequence_length);
  prediction.tokens_per_second_per_accelerator = prediction.tokens_per_second / accelerators;
  prediction.model_flops_per_second_per_accelerator = flops.model.count() / seconds / accelerators;
  prediction.mfu = (flops.model / prediction.iteration_time) / all;
  prediction.mfu_whole_square = (flops.model_whole_square / prediction.iteration_time) / all;
  prediction.hfu = (flops.hardware / prediction.iteration_time) / all;
}

}  // namespace headway
