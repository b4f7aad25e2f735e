#include <algorithm>

#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// The order of 1F1B with backward passes in two parts; stage s does the weight gradient of the
/// micro-batch s before.
std::vector<ScheduleStep> zb_h1_steps(const PipelineShape& shape, int stage) {
  const int micro_batches = shape.micro_batches;
  const int warm_up = std::min(shape.stages - stage - 1, micro_batches);
  std::vector<ScheduleStep> steps;
  const auto add = [&](StepKind kind, int micro_batch) {
    steps.push_back({.kind = kind, .chunk = 0, .micro_batch = micro_batch});
  };
  for (int i = 0; i < warm_up; ++i) add(StepKind::forward, i);
  for (int i = 0; i < micro_batches; ++i) {
    if (i + warm_up < micro_batches) add(StepKind::forward, i + warm_up);
    add(StepKind::input_gradient, i);
    if (i >= stage) add(StepKind::weight_gradient, i - stage);
  }
  for (int i = std::max(0, micro_batches - stage); i < micro_batches; ++i) {
    add(StepKind::weight_gradient, i);
  }
  return steps;
}

}  // namespace

/// No more activations than 1F1B holds at its first stage (section 2.2). The formula of the bubble
/// asks for as many micro-batches as stages, and gradients of inputs no shorter than of weights.
Schedule zb_h1() {
  return {.name = "zb_h1",
          .title = "ZB-H1",
          .what = "ZB-H1 is 1F1B with split backward passes: gradients of weights fill the bubble.",
          .source = "Qi et al. 2023 (arXiv:2401.10241)",
          .splits_backward = true,
          .needs_pipeline = true,
          .steps = zb_h1_steps,
          .bubble = [](const PipelineShape& shape, const PassTimes& times) {
            const double input = times.backward - times.weight;
            return (shape.stages - 1) * (times.forward + input - times.weight);
          }};
}

}  // namespace headway
