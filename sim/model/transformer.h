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
  std::string name = {};
  std::string source = {};  ///< where the numbers were published
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
  bool normalization_bias = true;  ///< of a layer norm; an RMS norm has none
  PositionEncoding position_encoding = PositionEncoding::learned;
  bool qkv_bias = true;         ///< biases of the query, key and value projections
  bool projection_bias = true;  ///< bias of the attention output projection
  bool mlp_bias = true;
  std::int64_t sequence_length =
      2048;  ///< trained at: a scenario's default, rows of a learned table

  friend bool operator==(const TransformerModel&, const TransformerModel&) = default;
};

/// Parameters by part, of the whole model. `normalization` includes the one before the head.
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
/// counted over the causal half or over the whole square, the output head included, embeddings not:
///   sum over layers [2 h (a + 2g) d + 2 a d h + 4 a d s (/ 2 if causal) + 2 (2 + gated) h f] + 2 h
///   V
/// with a heads, g of them for keys and values, of size d, and f the hidden size of the MLP. Source
/// of the convention: Megatron-Bridge (causal) and Korthikanti et al. 2022, appendix A (whole
/// square). A training step is three times this.
[[nodiscard]] Flops forward_flops_per_token(const TransformerModel& model,
                                            std::int64_t sequence_length, bool causal);

}  // namespace headway
