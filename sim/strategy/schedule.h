#pragma once

#include <vector>

#include "sim/strategy/strategy.h"

namespace headway {

/// One unit of a stage's work: the forward or backward pass of one micro-batch through one of the
/// stage's chunks.
struct ScheduleStep {
  bool backward = false;
  /// Of this stage, [0, virtual_stages); chunk c of stage s is layer block c * stages + s.
  int chunk = 0;
  int micro_batch = 0;
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// What stage `stage` of `stages` does, in order. GPipe: all forward passes, then all backward ones
/// in the same order of micro-batches. 1F1B: stages - stage - 1 warm-up forward passes, then
/// alternating. Interleaved (virtual_stages > 1; Narayanan et al. 2021, section 2.2, as Megatron-LM
/// orders it): warm-up of 2 (stages - stage - 1) + (virtual_stages - 1) * stages passes,
/// micro-batches in groups of `stages`. Interleaving requires 1F1B, micro_batches to be a multiple
/// of stages, and stages > 1.
[[nodiscard]] std::vector<ScheduleStep> stage_schedule(PipelineSchedule schedule, int stage,
                                                       int stages, int virtual_stages,
                                                       int micro_batches);

/// The most micro-batch passes through a chunk whose activations stage `stage` holds at once.
[[nodiscard]] int peak_chunks_in_flight(PipelineSchedule schedule, int stage, int stages,
                                        int virtual_stages, int micro_batches);

/// Time lost to filling and draining, as a share of the work, when all stages are equal and
/// transfers free: (p-1)/(v m) (Narayanan et al. 2021, section 2.2); GPipe the same with v = 1.
[[nodiscard]] double bubble_fraction(int stages, int virtual_stages, int micro_batches);

/// Transformer layers in each chunk, first to last; chunk c * stages + s stands on stage s.
///
/// `even` gives the first layers % chunks chunks one layer more. `embedding_and_loss_as_layers`
/// splits layers + 2 that way and takes one off the first chunk and one off the last, whose place
/// the embedding and the loss hold: Megatron-LM's account_for_embedding_in_pipeline_split and
/// account_for_loss_in_pipeline_split, which ask for layers + 2 to be a multiple of the chunks;
/// where it is not, the fullest chunk has ceil((layers + 2) / chunks). Requires as many layers (or
/// layers and ends) as chunks.
[[nodiscard]] std::vector<int> layers_per_chunk(LayerPlacement placement, int layers, int chunks);

}  // namespace headway
