#pragma once

#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// A decoder-only transformer in layers: embedding, layers of as many kinds as it has, output head
/// and loss.
[[nodiscard]] Model layers_of(const TransformerModel& model);

/// What positions hear of each other by.
enum class Mixer { attention, state_space, selective_scan, delta_net, convolution, none };

/// What a layer's place in the model decides.
struct LayerVariant {
  bool experts = false;   ///< a mixture of experts instead of the MLP
  bool windowed = false;  ///< attends to a window
  Mixer mixer = Mixer::attention;
  bool feeds = true;  ///< has an MLP or experts
  /// Positions of another sequence, for each of its own, that it attends to; 0: to its own.
  double crossed = 0.0;
  friend bool operator==(const LayerVariant&, const LayerVariant&) = default;
};
[[nodiscard]] LayerVariant layer_variant(const TransformerModel& model, std::int64_t layer);

// Parts that other families of transformers have as well.

/// Norms, attention, and an MLP or experts. What it keeps: Korthikanti et al. 2022, section 4, for
/// h hidden, a heads, s sequence, b micro-batch, t tensor parallel, 16-bit numbers, in multiples of
/// s b h bytes:
///
///   attention norm input 2, QKV input 2, queries, keys and values 6/t, softmax output, its
///   dropout's mask and output (2 + 1 + 2) a s/(h t), projection input 2/t, dropout mask 1,
///   MLP norm input 2, FC1 input 2, activation input 8/t, FC2 input 8/t, dropout mask 1
///   = 10 + 24/t + 5 a s/(h t)                                             (equation 2)
///
/// With sequence parallelism the undivided ten are split too: (34 + 5 a s/h)/t (equation 4).
/// Context parallelism splits all of it. Beyond the paper:
///
/// - Grouped-query attention keeps fewer keys and values; a gated MLP has two activation inputs.
/// - Fused attention keeps the log-sum-exp of each row (4 bytes a head and token) and no scores.
/// - Dropout is counted for models with learned positions (the GPT family), which train with it;
///   later families do not.
/// - An RMS norm made of elementary operations keeps its input and the normalised value in fp32;
///   SwiGLU made of them keeps the activated gate as well.
/// - Latent attention keeps what its narrow products make, and whole keys for every head.
/// - Experts keep the rows that were sent to the rank, one for each token and expert: what comes
/// in,
///   and what the activation takes and gives. The busiest rank counts.
/// - Where only adapters are trained, a frozen matrix has no weight gradient, so its input is kept
///   only if an adapter stands beside it or something else needs it: fused attention its output.
/// - Products in 8 or 4 bits keep their inputs quantised (Transformer Engine, LayerNormLinear and
///   LayerNormMLP); fused attention then keeps its 16-bit output beside the projection's input.
[[nodiscard]] Layer transformer_layer(const TransformerModel& model, LayerVariant variant = {});

/// The layer, for so many rows in the place of each.
[[nodiscard]] Layer with_rows(Layer layer, double times);

/// A gain for each channel; a layer norm may have a bias too.
[[nodiscard]] Weights norm_weights(const TransformerModel& model);

/// Tables of tokens and learned positions.
[[nodiscard]] Layer embedding_layer(const TransformerModel& model);

/// The pass of a cross-entropy loss over that many classes.
[[nodiscard]] MemoryPass cross_entropy_pass(double classes);

/// What tensor parallelism has to divide in it.
[[nodiscard]] std::vector<TensorLimit> tensor_limits(const TransformerModel& model);

}  // namespace headway
