#include "sim/jobs/schedules/schedule.h"

#include <algorithm>
#include <cstdint>

#include "sim/base/diagnostic.h"
#include "sim/jobs/schedules/split_schedules.h"

namespace headway {
namespace {

/// Forward passes before a stage's first backward pass.
std::int64_t warm_up_passes(PipelineSchedule schedule, int stage, int stages, int virtual_stages,
                            int micro_batches) {
  const std::int64_t passes = std::int64_t{micro_batches} * virtual_stages;
  if (schedule == PipelineSchedule::gpipe) return passes;
  const int behind = stages - stage - 1;
  const int wanted = virtual_stages > 1 ? 2 * behind + (virtual_stages - 1) * stages : behind;
  return std::min<std::int64_t>(wanted, passes);
}

/// The `index`-th forward or backward pass of any stage. A group of `stages` micro-batches goes
/// through all chunks before the next group starts: chunks ascend going forward, descend going back
/// (Megatron-LM, get_model_chunk_id of megatron/core/pipeline_parallel/schedules.py).
ScheduleStep pass_at(int index, bool backward, int stages, int virtual_stages) {
  const int group = index / (stages * virtual_stages);
  const int chunk = index / stages % virtual_stages;
  return {.kind = backward ? StepKind::backward : StepKind::forward,
          .chunk = backward ? virtual_stages - 1 - chunk : chunk,
          .micro_batch = group * stages + index % stages};
}

void check_arguments(PipelineSchedule schedule, int stage, int stages, int virtual_stages,
                     int micro_batches) {
  HEADWAY_CHECK(stage >= 0, "no such stage");
  HEADWAY_CHECK(stage < stages, "no such stage");
  HEADWAY_CHECK(virtual_stages >= 1, "no chunk to schedule");
  HEADWAY_CHECK(micro_batches >= 1, "no micro-batch to schedule");
  if (schedule == PipelineSchedule::zb_v) {
    HEADWAY_CHECK(virtual_stages == 2, "ZB-V has two chunks a stage");
    HEADWAY_CHECK(micro_batches >= 2 * stages - 1, "too few micro-batches for ZB-V");
    return;
  }
  if (schedule == PipelineSchedule::dual_pipe) {
    HEADWAY_CHECK(stages % 2 == 0 && micro_batches % 2 == 0, "DualPipe has two equal ends");
    HEADWAY_CHECK(micro_batches >= 2 * stages, "too few micro-batches for DualPipe");
  }
  if (virtual_stages == 1) return;
  HEADWAY_CHECK(schedule == PipelineSchedule::one_f_one_b, "only 1F1B interleaves");
  HEADWAY_CHECK(stages > 1, "interleaving needs a pipeline");
  HEADWAY_CHECK(micro_batches % stages == 0, "interleaving needs whole groups of micro-batches");
}

/// `items` over `parts`, the first parts taking the rest.
std::vector<int> even_split(int items, int parts) {
  std::vector<int> split(static_cast<std::size_t>(parts), items / parts);
  std::fill_n(split.begin(), items % parts, items / parts + 1);
  return split;
}

constexpr int kEnds = 2;  ///< the embedding and the loss

/// Layers of every chunk but the last, where that one is short.
std::int64_t full_chunk(std::int64_t layers, std::int64_t chunks) {
  return (layers + kEnds + chunks - 1) / chunks;
}

}  // namespace

std::vector<ScheduleStep> stage_schedule(PipelineSchedule schedule, int stage, int stages,
                                         int virtual_stages, int micro_batches) {
  check_arguments(schedule, stage, stages, virtual_stages, micro_batches);
  switch (schedule) {
    case PipelineSchedule::zb_h1:
      return zb_h1_schedule(stage, stages, micro_batches);
    case PipelineSchedule::zb_v:
      return zb_v_schedule(stage, stages, micro_batches);
    case PipelineSchedule::dual_pipe:
      return dual_pipe_schedule(stage, stages, micro_batches);
    case PipelineSchedule::gpipe:
    case PipelineSchedule::one_f_one_b:
      break;
  }
  const int passes = micro_batches * virtual_stages;
  const int warm_up =
      static_cast<int>(warm_up_passes(schedule, stage, stages, virtual_stages, micro_batches));

  std::vector<ScheduleStep> steps;
  steps.reserve(2 * static_cast<std::size_t>(passes));
  for (int i = 0; i < warm_up; ++i) steps.push_back(pass_at(i, false, stages, virtual_stages));
  for (int i = 0; i < passes; ++i) {
    if (i + warm_up < passes) {
      steps.push_back(pass_at(i + warm_up, false, stages, virtual_stages));
    }
    steps.push_back(pass_at(i, true, stages, virtual_stages));
  }
  return steps;
}

int chunk_position(PipelineSchedule schedule, int stage, int chunk, int stages) {
  if (schedule == PipelineSchedule::zb_v && chunk == 1) return 2 * stages - 1 - stage;
  if (schedule == PipelineSchedule::dual_pipe) return chunk == 0 ? stage : stages - 1 - stage;
  return chunk * stages + stage;
}

ChunkPlace chunk_place(PipelineSchedule schedule, int position, int copy, int stages) {
  if (schedule == PipelineSchedule::dual_pipe) {
    return {.stage = copy == 0 ? position : stages - 1 - position, .chunk = copy};
  }
  if (schedule == PipelineSchedule::zb_v && position >= stages) {
    return {.stage = 2 * stages - 1 - position, .chunk = 1};
  }
  return {.stage = position % stages, .chunk = position / stages};
}

bool splits_backward(PipelineSchedule schedule) { return schedule > PipelineSchedule::one_f_one_b; }

int peak_chunks_in_flight(PipelineSchedule schedule, int stage, int stages, int virtual_stages,
                          int micro_batches) {
  check_arguments(schedule, stage, stages, virtual_stages, micro_batches);
  if (splits_backward(schedule)) {
    int held = 0;
    int peak = 0;
    for (const ScheduleStep& step :
         stage_schedule(schedule, stage, stages, virtual_stages, micro_batches)) {
      held += held_after(step.kind);
      peak = std::max(peak, held);
    }
    return peak;
  }
  // After the warm-up each backward pass follows one more forward pass.
  const std::int64_t warm_up =
      warm_up_passes(schedule, stage, stages, virtual_stages, micro_batches);
  const std::int64_t passes = std::int64_t{micro_batches} * virtual_stages;
  return static_cast<int>(std::min(warm_up + 1, passes));
}

int held_after(StepKind kind) {
  switch (kind) {
    case StepKind::forward:
      return 1;
    case StepKind::input_gradient:
      return 0;
    case StepKind::backward:
    case StepKind::weight_gradient:
      return -1;
  }
  HEADWAY_CHECK(false, "unknown step");
}

double bubble_fraction(int stages, int virtual_stages, int micro_batches) {
  HEADWAY_CHECK(stages >= 1, "no stage to schedule");
  HEADWAY_CHECK(virtual_stages >= 1, "no chunk to schedule");
  HEADWAY_CHECK(micro_batches >= 1, "no micro-batch to schedule");
  return (stages - 1.0) / (static_cast<double>(virtual_stages) * micro_batches);
}

bool can_place(LayerPlacement placement, std::int64_t layers, std::int64_t chunks,
               std::int64_t prediction_layers) {
  switch (placement) {
    case LayerPlacement::even:
      return chunks <= layers;
    case LayerPlacement::embedding_and_loss_as_layers: {
      // A chunk of one place has room for one end; the first and the last may be the same.
      const std::int64_t places = layers + kEnds + prediction_layers;
      const std::int64_t in_last = chunks == 1 ? kEnds + prediction_layers : 1 + prediction_layers;
      return chunks <= places && places / chunks >= in_last;
    }
    case LayerPlacement::short_last_chunk:
      return (chunks - 1) * full_chunk(layers, chunks) <= layers;
  }
  HEADWAY_CHECK(false, "unknown placement");
}

std::vector<int> layers_per_chunk(LayerPlacement placement, int layers, int chunks,
                                  int prediction_layers) {
  HEADWAY_CHECK(layers >= 1, "no layer to place");
  HEADWAY_CHECK(chunks >= 1, "no chunk to place layers in");
  const bool has_room = can_place(placement, layers, chunks, prediction_layers);
  HEADWAY_CHECK(has_room, "a chunk would have no layer");
  if (placement == LayerPlacement::even) return even_split(layers, chunks);
  if (placement == LayerPlacement::short_last_chunk) {
    const auto full = static_cast<int>(full_chunk(layers, chunks));
    std::vector<int> split(static_cast<std::size_t>(chunks), full);
    split.back() = layers - (chunks - 1) * full;
    return split;
  }
  std::vector<int> split = even_split(layers + kEnds + prediction_layers, chunks);
  --split.front();
  split.back() -= 1 + prediction_layers;
  return split;
}

std::vector<int> layers_of_chunks(const Strategy& strategy, std::int64_t layers,
                                  int prediction_layers) {
  if (!strategy.layers_per_stage.empty()) return strategy.layers_per_stage;
  return layers_per_chunk(strategy.layer_placement, static_cast<int>(layers), strategy.chunks(),
                          prediction_layers);
}

}  // namespace headway
