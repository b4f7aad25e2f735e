#pragma once

#include "sim/models/transformer.h"

namespace headway::testing {

/// A model of the GPT family as Korthikanti et al. 2022 (arXiv:2205.05198), table 3, trains them:
/// sequences of 2048, a vocabulary of 51,200.
inline TransformerModel gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .hidden = hidden,
          .attention_heads = heads,
          .kv_heads = heads,
          .head_size = hidden / heads,
          .ffn_hidden = 4 * hidden,
          .vocabulary = 51'200,
          .tied_embeddings = true,
          .sequence_length = 2048};
}

/// A model of the Llama family: grouped-query attention, gated MLP, RMS norm, no biases.
inline TransformerModel llama(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                              std::int64_t kv_heads, std::int64_t ffn_hidden) {
  return {.layers = layers,
          .hidden = hidden,
          .attention_heads = heads,
          .kv_heads = kv_heads,
          .head_size = hidden / heads,
          .ffn_hidden = ffn_hidden,
          .gated_mlp = true,
          .vocabulary = 128'000,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::rotary,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false,
          .sequence_length = 8192};
}

}  // namespace headway::testing
