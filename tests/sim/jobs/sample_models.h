#pragma once

#include "sim/jobs/memory.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/layers/parameters.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway::testing {

/// A model of the GPT family as Korthikanti et al. 2022 (arXiv:2205.05198), table 3, trains them:
/// sequences of 2048, a vocabulary of 51,200.
inline Model gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return layers_of({.layers = layers,
                    .hidden = hidden,
                    .attention_heads = heads,
                    .kv_heads = heads,
                    .head_size = hidden / heads,
                    .ffn_hidden = 4 * hidden,
                    .vocabulary = 51'200,
                    .tied_embeddings = true,
                    .sequence_length = 2048});
}

/// A model of the Llama family: grouped-query attention, gated MLP, RMS norm, no biases.
inline Model llama(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                   std::int64_t kv_heads, std::int64_t ffn_hidden) {
  return layers_of({.layers = layers,
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
                    .sequence_length = 8192});
}

// Of the layers of a model whose layers are alike.
inline Bytes layer_activations(const Model& model, const Strategy& strategy) {
  return layer_activation_bytes(model.kinds.front(), strategy);
}
inline Bytes recomputed_activations(const Model& model, const Strategy& strategy) {
  return recomputed_bytes(model.kinds.front(), strategy);
}
inline Parameters layer_parameters(const Model& model, const Strategy& strategy = {}) {
  return parameters_on_rank(model.kinds.front(), rank_shape_of(strategy));
}

}  // namespace headway::testing
