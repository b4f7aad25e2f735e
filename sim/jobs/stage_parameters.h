#pragma once

#include <span>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {

/// Parameters that one rank of a pipeline stage works on, before data-parallel sharding: sums over
/// its layers (sim/layers/parameters.h). Counts are real numbers: a vocabulary is padded to
/// whatever divides.
struct StageParameters {
  double layers = 0.0;     ///< but for their routed experts
  double experts = 0.0;    ///< routed ones, which have replicas of their own
  double embedding = 0.0;  ///< tokens and learned positions; on the first stage
  /// Final norm and output head, a copy if tied elsewhere, and what multi-token prediction adds to
  /// its layers (which count as such); on the last stage.
  double head = 0.0;
  double adapters = 0.0;  ///< low-rank ones, beside frozen layers
  [[nodiscard]] double shared() const { return layers + embedding + head + adapters; }
  [[nodiscard]] double total() const { return shared() + experts; }
};
/// Those of them that training changes: all, or the adapters.
[[nodiscard]] double trained_parameters(const StageParameters& parameters,
                                        const Strategy& strategy);

/// Consecutive layers of the model.
struct LayerRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};
/// Layers of every chunk, first to last.
[[nodiscard]] std::vector<LayerRange> chunk_layers(const Model& model, const Strategy& strategy);
/// Layers in each chunk of a stage, in the order of ScheduleStep::chunk.
[[nodiscard]] std::vector<LayerRange> stage_layers(const Model& model, const Strategy& strategy,
                                                   int stage);

[[nodiscard]] StageParameters stage_parameters(const Model& model, const Strategy& strategy,
                                               int stage);
/// The same for those who have its `stage_layers`.
[[nodiscard]] StageParameters stage_parameters(const Model& model, const Strategy& strategy,
                                               int stage, std::span<const LayerRange> layers);

/// How many layers of a range are of each kind, by its place in `Model::kinds`.
[[nodiscard]] std::vector<int> kinds_of_layers(const Model& model, const LayerRange& range);

/// Whether chunk `chunk` of a stage has the model's embedding, or its head.
[[nodiscard]] bool is_first_chunk(const Strategy& strategy, int stage, int chunk);
[[nodiscard]] bool is_last_chunk(const Strategy& strategy, int stage, int chunk);

}  // namespace headway
