#include <cstddef>
#include <cstdint>

#include "sim/jobs/schedules/warm_up.h"

namespace headway {
namespace {

/// All micro-batches through a chunk before any goes through the next.
std::vector<ScheduleStep> breadth_first_steps(const PipelineShape& shape, int /*stage*/) {
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * static_cast<std::size_t>(shape.micro_batches) *
                static_cast<std::size_t>(shape.virtual_stages));
  const auto pass = [&](StepKind kind, int chunk) {
    for (int i = 0; i < shape.micro_batches; ++i) {
      steps.push_back({.kind = kind, .chunk = chunk, .micro_batch = i});
    }
  };
  for (int chunk = 0; chunk < shape.virtual_stages; ++chunk) pass(StepKind::forward, chunk);
  for (int chunk = shape.virtual_stages; chunk-- > 0;) pass(StepKind::backward, chunk);
  return steps;
}

}  // namespace

/// GPipe in loops: everything is in flight, but a chunk is through with its parameters and its
/// gradients while the others still work, so that exchanges of these are hidden behind more
/// compute.
Schedule breadth_first() {
  return {.name = "breadth_first",
          .title = "breadth-first",
          .what = "Breadth-first takes all micro-batches through a chunk before the next chunk.",
          .source = "Lamy-Poirier 2022 (arXiv:2211.05953), 4.1",
          .chunks = kAnyChunks,
          .bounds_flight = false,
          .need = [](const PipelineShape& shape) -> MicroBatchNeed {
            return {.least = shape.virtual_stages > 1 ? shape.stages : 1};
          },
          .need_text = "breadth-first loops need as many micro-batches as pipeline_parallel",
          .steps = breadth_first_steps,
          .in_flight = [](const PipelineShape& shape, int /*stage*/) -> std::int64_t {
            return std::int64_t{shape.micro_batches} * shape.virtual_stages;
          },
          .bubble = fill_and_drain};
}

}  // namespace headway
