#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// An encoder, and a decoder that attends to what it gives (Raffel et al. 2020, arXiv:1910.10683,
/// section 2.1): RMS norms, no biases, positions told by a learned term for each distance that is
/// added to the scores, the same in all layers. Or (Lewis et al. 2019, arXiv:1910.13461) layer
/// norms and biases, and positions added to the words.
struct T5Model {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;          ///< of the encoder
  std::int64_t decoder_layers = 1;  ///< each with attention, cross attention and an MLP
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t head_size = 64;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  /// A ReLU, or of a gated MLP a GELU that is written out, where nothing is said.
  std::optional<ActivationFunction> activation = {};
  bool biases = false;                 ///< of products and norms, which then are layer norms
  std::int64_t position_buckets = 32;  ///< of distances; 0: positions are added to words
  /// Rows of a learned table of each half; sinusoids where there is none.
  std::optional<std::int64_t> positions = {};
  bool dropout = false;  ///< only without buckets
  std::int64_t vocabulary = 1;
  bool tied_embeddings = true;         ///< encoder and decoder share their table in any case
  std::int64_t sequence_length = 512;  ///< that the encoder takes
  std::int64_t target_length = 512;    ///< that the decoder is trained to write
};

/// Layers of the encoder, then two for each of the decoder: attention, and cross attention with the
/// MLP. Tokens are those of the encoder, of which the decoder has a part; it hands on what the
/// encoder gave besides its own. Not counted: the pass that adds the positions' terms to scores.
[[nodiscard]] Model layers_of(const T5Model& fields);

[[nodiscard]] const FieldTable<T5Model>& t5_fields();

}  // namespace headway
