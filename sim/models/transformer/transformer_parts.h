#pragma once

#include <string>

#include "sim/layers/layer.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

// What a transformer layer is put together of; used by its files only.

[[nodiscard]] inline double real(std::int64_t count) { return static_cast<double>(count); }

inline constexpr double kHalfAgain = 0.5;  ///< of every second product

inline constexpr double kReadAndWritten = 4.0;  ///< bytes of an element of 16 bits

/// Whether it is not the last of every `interval` layers; with 0 none is.
[[nodiscard]] bool is_between(std::int64_t layer, std::int64_t interval);

/// Only the GPT family has a learned table of positions here, and it trains with dropout.
[[nodiscard]] bool has_dropout(const TransformerModel& model);

/// Backward it moves twice the bytes: the saved tensor and the gradient are read.
void add_pass(Layer& layer, std::string name, Rows rows, double bytes, Cut cut, Again again,
              KernelChoice when = KernelChoice::always);

/// What comes into a norm: kept as it is, or in fp32 with the normalised value.
void keep_norm_input(Layer& layer, Normalization normalization, KeptTensor input);

/// The channels of a token, from the pixels of its patch in three colours. Images have no gradient.
[[nodiscard]] Product patch_product(double channels, std::int64_t pixels);
/// Adds it, and the pixels that the gradient of its weights needs.
void add_patches(Layer& layer, Product patches);

// What operators that are not merged move, beside the passes of those that are.

/// Of norms, sums with the residual stream, dropout, casts for the products that read the stream
/// and the sums of their gradients: of a mixer, an MLP, or both.
void add_stream_operators(Layer& layer, const TransformerModel& model, bool mixes, bool feeds);

/// Of rotary embeddings of `elements` of queries and keys.
void add_rotary_operators(Layer& layer, double elements, Again again);

/// Of norms of `elements` of queries and keys.
void add_head_norm_operators(Layer& layer, Normalization normalization, double elements,
                             Again again);

/// Of an activation function with a kernel of its own, and its product with the other half of a
/// gated MLP: a copy of the merged pass that stands last.
void add_activation_operators(Layer& layer, const TransformerModel& model, double inner);

/// Of `elements` that a norm gave, times gains and plus biases of their image, and of as many that
/// a gate of it multiplies.
void add_modulation_operators(Layer& layer, double elements);

/// Of queries that are scaled before they attend, and of them, keys and values, put in the order of
/// heads (Whisper's attention in transformers): of `elements`, keys and values of `others` for
/// each.
void add_head_copies(Layer& layer, double elements, double others);

/// Of the gradients of biases: of all products that stand in the layer.
void add_bias_operators(Layer& layer);

/// What dropout on the residual stream decided.
void add_dropout_mask(Layer& layer, const TransformerModel& model, std::string name);

/// Projections and the core between them, grouped-query or latent. With `crossed`, so many
/// positions of another sequence for each of its own are what grouped-query attention goes to.
void add_attention(Layer& layer, const TransformerModel& model, bool windowed, double crossed);

/// Norms of queries and keys, of so many `elements` together, between their products and positions.
void add_query_key_norms(Layer& layer, Normalization normalization, Weights gains, double elements);
/// The same, where the model has any.
void add_query_key_norms(Layer& layer, const TransformerModel& model);

/// Of a softmax that is written out, its dropout, and what stands for both in a fused kernel.
void keep_scores(Layer& layer, const TransformerModel& model);

// Of mixers with a state.

/// Short filters along the sequence and their activation: read and written.
void add_convolution(Layer& layer, double channels);

/// A norm of what a mixer gives, times its gate.
void add_gated_norm(Layer& layer, double channels);

/// What products in front of a mixer take.
void keep_inward_input(Layer& layer, std::string name, double channels);

/// What the product behind a mixer takes.
void keep_outward_input(Layer& layer, double channels);

/// Mamba-2 in the place of attention. Requires `model.state_space`.
void add_state_space(Layer& layer, const TransformerModel& model);

/// Mamba in the place of attention. Requires `model.selective_scan`.
void add_selective_scan(Layer& layer, const TransformerModel& model);

/// A gated delta net in the place of attention. Requires `model.delta_net`.
void add_delta_net(Layer& layer, const TransformerModel& model);

/// A filter between two gates in the place of attention. Requires `model.short_convolution`.
void add_short_convolution(Layer& layer, const TransformerModel& model);

void add_dense_mlp(Layer& layer, const TransformerModel& model);

/// Every rank routes the tokens of its residual stream, and works on those that others send to its
/// experts; ranks that split an expert all have the tokens of each other.
void add_experts(Layer& layer, const TransformerModel& model, const MixtureOfExperts& mixture);

}  // namespace headway
