#include "sim/jobs/schedules/warm_up.h"

namespace headway {
namespace {

/// The `index`-th forward or backward pass of any stage.
ScheduleStep pass_at(std::int64_t index, bool backward, const PipelineShape& shape) {
  const auto group = static_cast<int>(index / shape.stages / shape.virtual_stages);
  const auto chunk = static_cast<int>(index / shape.stages % shape.virtual_stages);
  return {.kind = backward ? StepKind::backward : StepKind::forward,
          .chunk = backward ? shape.virtual_stages - 1 - chunk : chunk,
          .micro_batch = group * shape.stages + static_cast<int>(index % shape.stages)};
}

}  // namespace

std::vector<ScheduleStep> warmed_up_steps(const PipelineShape& shape, std::int64_t warm_up) {
  const std::int64_t passes = std::int64_t{shape.micro_batches} * shape.virtual_stages;
  std::vector<ScheduleStep> steps;
  steps.reserve(2 * static_cast<std::size_t>(passes));
  for (std::int64_t i = 0; i < warm_up; ++i) steps.push_back(pass_at(i, false, shape));
  for (std::int64_t i = 0; i < passes; ++i) {
    if (i + warm_up < passes) steps.push_back(pass_at(i + warm_up, false, shape));
    steps.push_back(pass_at(i, true, shape));
  }
  return steps;
}

double fill_and_drain(const PipelineShape& shape, const PassTimes& times) {
  return (shape.stages - 1) * (times.forward + times.backward);
}

}  // namespace headway
