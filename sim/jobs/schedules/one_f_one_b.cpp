#include <algorithm>

#include "sim/jobs/schedules/warm_up.h"

namespace headway {
namespace {

/// Forward passes before a stage's first backward pass (Narayanan et al. 2021, section 2.2, as
/// Megatron-LM counts them).
std::int64_t warm_up_passes(const PipelineShape& shape, int stage) {
  const std::int64_t behind = shape.stages - stage - 1;
  const std::int64_t chunks = shape.virtual_stages;
  const std::int64_t wanted = chunks > 1 ? 2 * behind + (chunks - 1) * shape.stages : behind;
  return std::min(wanted, chunks * shape.micro_batches);
}

}  // namespace

/// One forward, one backward. Interleaved, whole groups of as many micro-batches as stages take
/// turns in the chunks.
Schedule one_f_one_b() {
  return {
      .name = "1f1b",
      .title = "1F1B",
      .what = "One forward, one backward holds few activations; several chunks a stage interleave.",
      .source = "Narayanan et al. 2019 (PipeDream), 2021 (arXiv:2104.04473), 2.2",
      .chunks = kAnyChunks,
      .need = [](const PipelineShape& shape) -> MicroBatchNeed {
        return {.multiple = shape.virtual_stages > 1 ? shape.stages : 1};
      },
      .need_text = "interleaving needs the micro-batches to be a multiple of pipeline_parallel",
      .steps = [](const PipelineShape& shape,
                  int stage) { return warmed_up_steps(shape, warm_up_passes(shape, stage)); },
      // After the warm-up each backward pass follows one more forward pass.
      .in_flight = [](const PipelineShape& shape, int stage) -> std::int64_t {
        const std::int64_t passes = std::int64_t{shape.micro_batches} * shape.virtual_stages;
        return std::min(warm_up_passes(shape, stage) + 1, passes);
      },
      .bubble = fill_and_drain};
}

}  // namespace headway
