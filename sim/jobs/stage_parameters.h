#pragma once

#include <array>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer.h"

namespace headway {

/// Parameters that one rank of a pipeline stage works on, before data-parallel sharding. Tensor
/// parallelism cuts the matrices and the vocabulary; norms, biases added after a reduction,
/// routers, learned positions and the narrow products of latent attention stand on every rank, and
/// so do key-value heads where there are fewer of them than ranks. Expert and expert tensor
/// parallelism cut the experts. Counts are real numbers: a vocabulary is padded to whatever
/// divides.
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
[[nodiscard]] StageParameters stage_parameters(const TransformerModel& model,
                                               const Strategy& strategy, int stage);

/// Those of them that training changes: all, or the adapters.
[[nodiscard]] double trained_parameters(const StageParameters& parameters,
                                        const Strategy& strategy);

/// The same of one transformer layer, its two norms included.
struct LayerParametersPerRank {
  double shared = 0.0;   ///< held by every data- and context-parallel rank alike
  double experts = 0.0;  ///< held by `Strategy::expert_replicas()` ranks
  [[nodiscard]] double total() const { return shared + experts; }
};
[[nodiscard]] LayerParametersPerRank layer_parameters_per_rank(const TransformerModel& model,
                                                               const Strategy& strategy,
                                                               LayerKind kind = {});

/// Consecutive layers of the model.
struct LayerRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};
/// Layers of every chunk, first to last.
[[nodiscard]] std::vector<LayerRange> chunk_layers(const TransformerModel& model,
                                                   const Strategy& strategy);
/// Layers in each chunk of a stage, in the order of ScheduleStep::chunk.
[[nodiscard]] std::vector<LayerRange> stage_layers(const TransformerModel& model,
                                                   const Strategy& strategy, int stage);

/// How many layers of a range are of each kind, by LayerKind::index().
[[nodiscard]] std::array<int, kLayerKinds> kinds_of_layers(const TransformerModel& model,
                                                           const LayerRange& range);
/// The kinds, in the order of their indices.
[[nodiscard]] std::array<LayerKind, kLayerKinds> layer_kinds();

/// Whether chunk `chunk` of a stage has the model's embedding, or its head.
[[nodiscard]] bool is_first_chunk(const Strategy& strategy, int stage, int chunk);
[[nodiscard]] bool is_last_chunk(const Strategy& strategy, int stage, int chunk);

}  // namespace headway
