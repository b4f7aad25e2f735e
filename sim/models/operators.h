#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/layers/kernel_shape.h"
#include "sim/models/transformer.h"

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
  double expert_parallel = 1;   ///< devices that share out the experts of a layer
  double expert_tensor_parallel = 1;  ///< devices that split each expert's matrices
  double expert_capacity = 0;  ///< most tokens of an expert, in means; 0: as many as are sent to it
  double expert_imbalance = 1;  ///< tokens sent to the busiest expert, in means

  /// How far attention reaches: packed documents attend to themselves only.
  [[nodiscard]] double attention_length() const {
    return packed_length > 0 ? packed_length : sequence_length;
  }
  /// Tokens that the linear layers of one device see in a micro-batch.
  [[nodiscard]] double tokens() const { return micro_batch * sequence_length / context_parallel; }
  /// Tokens that one device has in the residual stream, and routes to experts.
  [[nodiscard]] double residual_tokens() const {
    return tokens() / (sequence_parallel ? tensor_parallel : 1.0);
  }
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
  /// Tensor-parallel devices hold some of its columns each: all have the whole input, and the
  /// gradient of the input is a sum over them.
  bool column_parallel = false;
};

/// The same product for each of several experts on one device, each with its own weights and
/// tokens: `forward` is that of one expert, tokens the mean over them.
struct GroupedOperator {
  std::string_view name;
  double experts = 1;
  GemmShape forward;
};

/// A pass over memory: normalization, residual, activation, rotary embedding, loss.
struct MemoryOperator {
  std::string_view name;
  Bytes forward;
  Bytes backward;
};

/// The pass of the MLP's activation function, which recomputation may run again on its own.
inline constexpr std::string_view kActivationPass = "activation";
inline constexpr std::string_view kExpertActivationPass = "expert_activation";
inline constexpr std::string_view kSharedActivationPass = "shared_activation";

/// The projection of a latent layer up to the heads, which recomputation may run again on its own.
inline constexpr std::string_view kUpProjections[] = {"query_up", "key_value_up"};

struct Operators {
  std::vector<LinearOperator> linears;
  std::vector<GroupedOperator> grouped;
  std::vector<AttentionShape> attention;
  std::vector<MemoryOperator> memory_passes;
  /// Elements of the rows that are put in the order of the experts, and as many back: a row for
  /// each token and expert that the device works on.
  double permuted_elements = 0;
};

/// One transformer layer of the given kind on one device: linears "qkv", "projection", "fc1",
/// "fc2"; passes "norm_residual_dropout", "activation" and, where positions are rotary and
/// attention is fused, "rotary". (Unfused attention carries its own traffic, in the profile's cost
/// of it.)
///
/// Latent attention has "query_down" and "query_up" (or "query"), "key_value_down" and
/// "key_value_up" instead of "qkv"; the narrow ones stand whole on every tensor-parallel device.
/// Experts have "router", the grouped "expert_fc1" and "expert_fc2" and, for a shared expert,
/// "shared_fc1" and "shared_fc2" instead of the MLP's.
///
/// Degrees that do not divide what they cut are the strategy reader's business; here they give
/// fractions.
[[nodiscard]] Operators layer_operators(const TransformerModel& model, const ShardShape& shard,
                                        LayerKind kind = {});

/// Tokens that the busiest device works on in its experts, each counted for every expert it goes
/// to, in multiples of what an even routing would give it. The busiest expert gets
/// `expert_imbalance` times the mean and the others share the rest; a capacity cuts both.
[[nodiscard]] double expert_load(const MixtureOfExperts& mixture, const ShardShape& shard);

/// The product that joins the hidden state with the next token's embedding in front of a
/// multi-token prediction layer: linear "prediction_join", and the norms before it. Every
/// tensor-parallel device makes its part of the columns.
[[nodiscard]] Operators prediction_join_operators(const TransformerModel& model,
                                                  const ShardShape& shard);

/// The output head and the cross-entropy loss on one device of the last stage: linear "head", pass
/// "cross_entropy". The normalization before it is left out, as it was where the constants were
/// fitted.
[[nodiscard]] Operators head_operators(const TransformerModel& model, const ShardShape& shard);

/// The token (and learned position) embedding on one device of the first stage: passes
/// "token_embedding" and "position_embedding".
[[nodiscard]] Operators embedding_operators(const TransformerModel& model, const ShardShape& shard);

}  // namespace headway
