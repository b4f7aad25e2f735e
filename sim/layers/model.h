#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/layers/layer.h"

namespace headway {

/// A size of a model that tensor parallelism has to divide, under the name of the field that says
/// it.
struct TensorLimit {
  std::string field;
  std::string what;  ///< "the attention heads"
  std::int64_t size = 1;
  bool may_share = false;  ///< a degree that is a multiple of it will do as well
};

/// Layers behind the last that predict a token further ahead each, in training only: each has a
/// layer of the model behind a product that joins two inputs, and passes the head again
/// (DeepSeek-V3, 2024, section 2.2).
struct PredictionAhead {
  int layers = 0;
  int kind = 0;
  Layer join;
};

/// What is trained, in layers. Built by a family (sim/models); nothing above knows of families.
struct Model {
  std::string name;
  std::string source;  ///< where the numbers were published
  std::vector<Layer> kinds;
  std::vector<int> layers;  ///< of each layer, first to last, its place in `kinds`
  /// The first ones, which stand on the first chunk of a pipeline besides its share of the others.
  int leading_layers = 0;
  Layer first;  ///< before them: embedding, stem
  Layer last;   ///< behind them: output head and loss
  /// Whether published training steps of its family were held against predictions.
  bool is_validated = false;
  /// Whether its layers add a bias to their scores, which keeps attention from being fused in
  /// software as it stands: what a job does that does not say.
  bool biases_scores = false;
  bool tied = false;  ///< the head's matrix is the table of the embedding
  PredictionAhead ahead;
  /// Whether samples are sequences of tokens, as long as a strategy says, which reports count.
  /// Those of others have as many rows as the model says: the positions of an image or a clip, or
  /// one.
  bool has_tokens = true;
  std::int64_t sequence_length = 1;                 ///< trained at: a scenario's default
  std::optional<std::int64_t> most_positions = {};  ///< a learned table has rows for
  std::vector<TensorLimit> tensor_limits = {};
  std::vector<std::string> left_out = {};  ///< of what its training does, in words for results

  /// Whether ranks can share out what a sample is made of.
  [[nodiscard]] bool has_positions() const { return has_tokens || sequence_length > 1; }
  [[nodiscard]] int layer_count() const { return static_cast<int>(layers.size()); }
  /// Those that are shared out over the chunks of a pipeline.
  [[nodiscard]] int shared_layers() const { return layer_count() - leading_layers; }
  [[nodiscard]] const Layer& kind(int index) const {
    return kinds[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] int kind_of(int layer) const { return layers[static_cast<std::size_t>(layer)]; }
  [[nodiscard]] const Layer& layer(int index) const { return kind(kind_of(index)); }
  /// The routing of the first layer with experts; nullptr if there is none.
  [[nodiscard]] const ExpertRouting* routing() const;
  /// Whether a layer has tables of embedding bags.
  [[nodiscard]] bool has_tables() const;
  /// Whether an adapter can stand there in every layer.
  [[nodiscard]] bool has_target(AdapterTarget target) const;
  /// Whether a layer has something that is made again with this part.
  [[nodiscard]] bool recomputes(RecomputePart part) const;
};

/// Whether these ranks can split every size that they have to; the first that they cannot, or
/// nothing.
[[nodiscard]] const TensorLimit* first_indivisible(const Model& model, std::int64_t ranks);

/// Adds a layer to the model, `count` times, as a kind of its own.
void append_layers(Model& model, Layer layer, int count = 1);

}  // namespace headway
