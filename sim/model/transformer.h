#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.h"

namespace headway {

enum class Normalization { layer_norm, rms_norm };
enum class PositionEncoding { learned, rotary, none };

/// A dense decoder-only transformer of the GPT and Llama families, as its authors publish it.
/// Every count is at least 1; `attention_heads` is a multiple of `kv_heads`.
struct TransformerModel {
  std::string name;
  std::string source;  ///< where the numbers were published
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t kv_heads = 1;  ///< fewer than attention_heads: grouped-query attention
  std::int64_t head_size = 1;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;  ///< three matrices (SwiGLU) instead of two
  std::int64_t vocabulary = 1;
  bool tied_embeddings = false;  ///< the output head reuses the token embedding
  Normalization normalization = Normalization::layer_norm;
  PositionEncoding position_encoding = PositionEncoding::learned;
  bool qkv_bias = true;         ///< biases of the query, key and value projections
  bool projection_bias = true;  ///< bias of the attention output projection
  bool mlp_bias = true;
  std::int64_t sequence_length = 2048;  ///< trained at; the default of a scenario; rows of learned positions
};

/// Parameters by part, of the whole model.
struct ParameterCounts {
  std::int64_t token_embedding = 0;
  std::int64_t position_embedding = 0;
  std::int64_t attention = 0;
  std::int64_t mlp = 0;
  std::int64_t normalization = 0;
  std::int64_t output_head = 0;  ///< 0 if tied

  [[nodiscard]] std::int64_t total() const {
    return token_embedding + position_embedding + attention + mlp + normalization + output_head;
  }
};
[[nodiscard]] ParameterCounts parameter_counts(const TransformerModel& model);

/// Parameters of one layer, its two normalizations included.
[[nodiscard]] std::int64_t layer_parameters(const TransformerModel& model);

/// Operations of the forward pass per token, "model FLOPs": every matrix product once, attention
/// counted over the causal half or over the whole square, the output head included, embeddings not.
/// Source of the convention: Megatron-Bridge (causal) and Korthikanti et al. 2022 (whole square).
/// A training step is three times this.
[[nodiscard]] Flops forward_flops_per_token(const TransformerModel& model,
                                            std::int64_t sequence_length, bool causal);

}  // namespace headway
