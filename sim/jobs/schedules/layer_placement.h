#pragma once

#include <cstdint>
#include <vector>

#include "sim/jobs/strategy.h"

namespace headway {

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
