#pragma once

#include <cstdint>
#include <vector>

#include "sim/jobs/strategy.h"

namespace headway {

/// What a stage does with one micro-batch in one of its chunks.
enum class StepKind {
  forward,
  backward,        ///< gradients of the input and of the weights
  input_gradient,  ///< the part of a backward pass that the stage before waits for
  weight_gradient  ///< the part that nobody waits for
};

/// One unit of a stage's work.
struct ScheduleStep {
  StepKind kind = StepKind::forward;
  int chunk = 0;  ///< of this stage; `chunk_position` says where in the model it is
  int micro_batch = 0;
  /// Runs merged with the step after it: both inputs are there before, both outputs leave after.
  bool merged = false;
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// Where chunk `chunk` of stage `stage` is in the model, from 0 for the one with the embedding:
/// chunk * stages + stage. ZB-V goes there and back: chunk 0 of stage s is part s, chunk 1 part
/// 2 stages - 1 - s. DualPipe has the model twice: chunk 0 is part s of the copy that is fed at
/// stage 0, chunk 1 part stages - 1 - s of the one fed at the other end.
[[nodiscard]] int chunk_position(PipelineSchedule schedule, int stage, int chunk, int stages);

/// Whether gradients of weights wait for later: schedules of the zero-bubble kind.
[[nodiscard]] bool splits_backward(PipelineSchedule schedule);

struct ChunkPlace {
  int stage = 0;
  int chunk = 0;
};
/// Where that position is; of DualPipe's two copies, in the one of which a stage has chunk `copy`.
[[nodiscard]] ChunkPlace chunk_place(PipelineSchedule schedule, int position, int copy, int stages);

/// What stage `stage` of `stages` does, in order. GPipe: all forward passes, then all backward ones
/// in the same order of micro-batches. 1F1B: stages - stage - 1 warm-up forward passes, then
/// alternating. Interleaved (virtual_stages > 1; Narayanan et al. 2021, section 2.2, as Megatron-LM
/// orders it): warm-up of 2 (stages - stage - 1) + (virtual_stages - 1) * stages passes,
/// micro-batches in groups of `stages`. Interleaving requires 1F1B, micro_batches to be a multiple
/// of stages, and stages > 1.
///
/// ZB-H1: the order of 1F1B with backward passes in two parts; stage s does the weight gradient of
/// the micro-batch s before. ZB-V: requires 2 virtual stages and 2 stages - 1 micro-batches.
/// DualPipe: half of the micro-batches from each end, each end counting its own; requires an even
/// number of stages, and of micro-batches, of which there are twice as many at least.
[[nodiscard]] std::vector<ScheduleStep> stage_schedule(PipelineSchedule schedule, int stage,
                                                       int stages, int virtual_stages,
                                                       int micro_batches);

/// By how many passes more a step leaves activations held: 1, 0 or -1.
[[nodiscard]] int held_after(StepKind kind);

/// The most micro-batch passes through a chunk whose activations stage `stage` holds at once: from
/// the forward pass to the gradient of the weights.
[[nodiscard]] int peak_chunks_in_flight(PipelineSchedule schedule, int stage, int stages,
                                        int virtual_stages, int micro_batches);

/// Time lost to filling and draining, as a share of the work, when all stages are equal and
/// transfers free: (p-1)/(v m) (Narayanan et al. 2021, section 2.2); GPipe the same with v = 1.
/// The schedules that split backward passes have bubbles of their own; schedule_test.cpp has them.
[[nodiscard]] double bubble_fraction(int stages, int virtual_stages, int micro_batches);

/// Transformer layers in each chunk, first to last; chunk c * stages + s stands on stage s.
///
/// `even` gives the first layers % chunks chunks one layer more. `embedding_and_loss_as_layers`
/// splits layers + 2 + `prediction_layers` that way, takes one off the first chunk, whose place the
/// embedding holds, and 1 + prediction_layers off the last, for the loss and the multi-token
/// prediction layers: Megatron-LM's account_for_embedding_in_pipeline_split and
/// account_for_loss_in_pipeline_split, which ask for the sum to be a multiple of the chunks; where
/// it is not, the fullest chunk has its ceiling. `short_last_chunk` gives every chunk but the last
/// ceil((layers + 2) / chunks). Requires as many layers (or layers and ends) as chunks, and for the
/// last one that chunks - 1 of that size are no more than all.
[[nodiscard]] std::vector<int> layers_per_chunk(LayerPlacement placement, int layers, int chunks,
                                                int prediction_layers = 0);

/// Whether that many layers can be placed so.
[[nodiscard]] bool can_place(LayerPlacement placement, std::int64_t layers, std::int64_t chunks,
                             std::int64_t prediction_layers);

/// The same for a strategy, which may name them one by one.
[[nodiscard]] std::vector<int> layers_of_chunks(const Strategy& strategy, std::int64_t layers,
                                                int prediction_layers = 0);

}  // namespace headway
