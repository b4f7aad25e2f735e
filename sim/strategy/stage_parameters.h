#pragma once

#include <vector>

#include "sim/model/transformer.h"
#include "sim/strategy/strategy.h"

namespace headway {

/// Parameters that one rank of a pipeline stage works on, before data-parallel sharding. Tensor
/// parallelism cuts the matrices and the vocabulary; norms, biases added after a reduction and
/// learned positions stand on every rank, and so do key-value heads where there are fewer of them
/// than ranks. Counts are real numbers: a vocabulary is padded to whatever divides.
struct StageParameters {
  double layers = 0.0;
  double embedding = 0.0;  ///< tokens and learned positions; on the first stage
  double head = 0.0;  ///< final norm and output head; on the last stage, a copy if tied elsewhere
  double adapters = 0.0;  ///< low-rank ones, beside frozen layers
  [[nodiscard]] double total() const { return layers + embedding + head + adapters; }
};
[[nodiscard]] StageParameters stage_parameters(const TransformerModel& model,
                                               const Strategy& strategy, int stage);

/// Those of them that training changes: all, or the adapters.
[[nodiscard]] double trained_parameters(const StageParameters& parameters,
                                        const Strategy& strategy);

/// The same of one transformer layer, its two norms included.
[[nodiscard]] double layer_parameters_per_rank(const TransformerModel& model, int tensor_parallel);

/// Layers in each chunk of a stage, in the order of ScheduleStep::chunk.
[[nodiscard]] std::vector<int> stage_layers(const TransformerModel& model, const Strategy& strategy,
                                            int stage);

/// Whether chunk `chunk` of a stage has the model's embedding, or its head.
[[nodiscard]] bool is_first_chunk(const Strategy& strategy, int stage, int chunk);
[[nodiscard]] bool is_last_chunk(const Strategy& strategy, int stage, int chunk);

}  // namespace headway
