#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/jobs/strategy.h"
#include "sim/models/transformer.h"

namespace headway {

/// A tensor that the forward pass of a layer leaves for its backward pass.
struct KeptTensor {
  std::string_view name;
  Bytes bytes;  ///< on one rank, for one micro-batch
};

/// Everything that one layer keeps on one rank if nothing is recomputed. For a GPT layer (h hidden,
/// a heads, s sequence, b micro-batch, t tensor parallel, 16-bit numbers) Korthikanti et al. 2022,
/// section 4, counts, in multiples of s b h bytes:
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
[[nodiscard]] std::vector<KeptTensor> kept_tensors(const TransformerModel& model,
                                                   const Strategy& strategy, LayerKind kind = {});

/// What a layer keeps that recomputes what the strategy says.
[[nodiscard]] Bytes recomputing_layer_bytes(const TransformerModel& model, const Strategy& strategy,
                                            LayerKind kind = {});

/// The part that the strategy's recomputation makes again in the backward pass: what the layer that
/// is being recomputed holds for that while.
[[nodiscard]] Bytes recomputed_bytes(const TransformerModel& model, const Strategy& strategy,
                                     LayerKind kind = {});

/// Bytes of the residual stream of one micro-batch on one rank: a layer's input.
[[nodiscard]] Bytes residual_bytes(const TransformerModel& model, const Strategy& strategy);

/// The mask that dropout after the embedding keeps; nothing for models without dropout.
[[nodiscard]] Bytes embedding_dropout_bytes(const TransformerModel& model,
                                            const Strategy& strategy);

/// Bytes of an activation or a parameter as the forward pass uses it.
[[nodiscard]] double working_bytes_per_element(Precision precision);

}  // namespace headway
