#pragma once

#include <string_view>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/base/units.h"
#include "sim/model/transformer.h"

namespace headway {

/// What one device computes of a layer, and how the layer is cut.
struct ShardShape {
  double micro_batch = 1;      ///< sequences
  double sequence_length = 1;  ///< of a whole sequence
  double packed_length = 0;    ///< of the documents packed into a sequence; 0 if it is one
  double tensor_parallel = 1;
  double context_parallel = 1;
  bool scattered_heads = false;  ///< context parallel devices have whole sequences of some heads
  bool sequence_parallel =
      false;                    ///< norm, dropout and residual on 1/tensor_parallel of the tokens
  bool fused_attention = true;  ///< flash attention: no score matrix in memory

  /// How far attention reaches: packed documents attend to themselves only.
  [[nodiscard]] double attention_length() const {
    return packed_length > 0 ? packed_length : sequence_length;
  }
  /// Tokens that the linear layers of one device see in a micro-batch.
  [[nodiscard]] double tokens() const { return micro_batch * sequence_length / context_parallel; }
};

/// A linear layer: forward [m x k][k x n]; backward adds the data gradient [m x n][n x k] and the
/// weight gradient [n x m][m x k].
struct LinearOperator {
  std::string_view name;
  GemmShape forward;
  /// Elements of the input that one device makes, and quantises in low precision: fewer than m k
  /// where sequence-parallel ranks gather the rest from each other.
  double input_elements = 0;
  bool frozen = false;  ///< its weights are not trained: no weight gradient
  bool wide = false;    ///< stays in 16 bits where other products are in less
};

/// A pass over memory: normalization, residual, activation, rotary embedding, loss.
struct MemoryOperator {
  std::string_view name;
  Bytes forward;
  Bytes backward;
};

/// The pass of the MLP's activation function, which recomputation may run again on its own.
inline constexpr std::string_view kActivationPass = "activation";

struct Operators {
  std::vector<LinearOperator> linears;
  std::vector<AttentionShape> attention;
  std::vector<MemoryOperator> memory_passes;
};

/// One transformer layer on one device: linears "qkv", "projection", "fc1", "fc2"; passes
/// "norm_residual_dropout", "activation" and, where positions are rotary and attention is fused,
/// "rotary". (Unfused attention carries its own traffic, in the profile's cost of it.)
///
/// Degrees that do not divide what they cut are the strategy reader's business; here they give
/// fractions.
[[nodiscard]] Operators layer_operators(const TransformerModel& model, const ShardShape& shard);

/// The output head and the cross-entropy loss on one device of the last stage: linear "head", pass
/// "cross_entropy". The normalization before it is left out, as it was where the constants were
/// fitted.
[[nodiscard]] Operators head_operators(const TransformerModel& model, const ShardShape& shard);

/// The token (and learned position) embedding on one device of the first stage: passes
/// "token_embedding" and "position_embedding".
[[nodiscard]] Operators embedding_operators(const TransformerModel& model, const ShardShape& shard);

}  // namespace headway
