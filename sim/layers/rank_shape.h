#pragma once

#include <algorithm>
#include <vector>

#include "sim/layers/expert_masks.h"
#include "sim/layers/layer.h"
#include "sim/layers/table_plan.h"

namespace headway {

/// What one rank has of a layer: its rows, and how sizes are cut.
struct RankShape {
  double micro_batch = 1;      ///< samples
  double sequence_length = 1;  ///< of a whole sequence
  double packed_length = 0;    ///< of the documents packed into a sequence; 0 if it is one
  double tensor_parallel = 1;
  double context_parallel = 1;
  bool scattered_heads = false;  ///< context parallel ranks have whole sequences of some heads
  bool sequence_parallel =
      false;                   ///< norm, dropout and residual on 1/tensor_parallel of the tokens
  bool split_messages = true;  ///< 1/tensor_parallel of them goes from a stage to the next
  double expert_parallel = 1;  ///< ranks that share out the experts of a layer
  double expert_tensor_parallel = 1;  ///< ranks that split each expert's matrices
  double expert_capacity = 0;  ///< most tokens of an expert, in means; 0: as many as are sent to it
  ExpertMasks expert_masks = ExpertMasks::none;  ///< not without a capacity
  double expert_imbalance = 1;                   ///< tokens sent to the busiest expert, in means

  TablePlan tables = {};   ///< how those of embedding bags stand
  double table_ranks = 1;  ///< on so many, a micro-batch each

  bool fused_attention = true;  ///< no score matrix in memory
  /// An RMS norm is one kernel, which keeps its input only; a batch norm one with what is behind
  /// it.
  bool fused_normalization = true;
  bool fused_activation = true;   ///< a gated activation is one kernel, which keeps its inputs only
  bool fused_operators = true;    ///< several are merged into one kernel
  bool fused_softmax = true;      ///< of unfused attention: one kernel, which keeps its result only
  bool copied_attention = false;  ///< fused attention's output is kept in two orders
  bool gathered_inputs = false;   ///< inputs of split matrices are kept as sequence-parallel ranks
                                  ///< gathered them
  bool framework_images = false;  ///< norms and pools of images are not the library's kernels
  bool wide_residuals = false;    ///< what passes between layers is in fp32
  /// Of experts' products where it is not that of others: of operands in fp32, one after the other.
  std::optional<Precision> expert_precision = {};
  double element_bytes = 2;   ///< of an activation
  double product_bytes = 2;   ///< of an activation kept as the input of a product; not more
  double gathered_bytes = 2;  ///< of an activation that sequence-parallel ranks gather; not more
  bool whole_loss = false;    ///< every tensor-parallel rank has all logits
  double activation_input_bytes = 2;  ///< of what an activation function takes, kept; not more
  /// Where adapters alone are trained, those matrices that have one.
  bool frozen = false;
  std::vector<AdapterTarget> adapters = {};
  bool wide_adapters = false;  ///< in fp32: inputs are cast to it and back

  /// How far attention reaches: packed documents attend to themselves only.
  [[nodiscard]] double attention_length() const {
    return packed_length > 0 ? packed_length : sequence_length;
  }
  /// Tokens that one rank sees in a micro-batch.
  [[nodiscard]] double tokens() const { return micro_batch * sequence_length / context_parallel; }
  /// Tokens that one rank has in the residual stream, and routes to experts.
  [[nodiscard]] double residual_tokens() const {
    return tokens() / (sequence_parallel ? tensor_parallel : 1.0);
  }
  /// What a cut divides by.
  [[nodiscard]] double parts(Cut cut) const {
    switch (cut) {
      case Cut::none:
        break;
      case Cut::tensor:
        return tensor_parallel;
      case Cut::expert_tensor:
        return expert_tensor_parallel;
      case Cut::loss:
        return whole_loss ? 1.0 : tensor_parallel;
    }
    return 1.0;
  }
  [[nodiscard]] bool holds(KernelChoice when) const;
  [[nodiscard]] bool holds(Operators operators) const {
    return operators == Operators::any || (operators == Operators::merged) == fused_operators;
  }
  /// Whether what passes between layers is wider than what is worked on.
  [[nodiscard]] bool has_wide_stream() const {
    return wide_residuals && element_bytes <= kWorkingElement;
  }
  /// Bytes of an element that is kept so.
  [[nodiscard]] double bytes(Stored stored) const;
  /// Whether something in the backward pass needs the input of that matrix: its gradient, or that
  /// of the adapter beside it.
  [[nodiscard]] bool needs_input(const std::optional<AdapterTarget>& target) const;
};

/// Tokens that the busiest rank works on in its experts, each counted for every expert it goes to,
/// in multiples of what an even routing would give it. The busiest expert gets `expert_imbalance`
/// times the mean and the others share the rest; a capacity cuts both. With masks every place is
/// worked on, taken or not.
[[nodiscard]] double expert_load(double experts, const RankShape& shape);

/// Rows of that sort on a rank. Requires a routing for routed ones.
[[nodiscard]] double row_count(Rows rows, const Layer& layer, const RankShape& shape);

/// How many outputs of a product a rank has, by the side that is split.
[[nodiscard]] double outputs_on_rank(const Product& product, const RankShape& shape);
[[nodiscard]] double inputs_on_rank(const Product& product, const RankShape& shape);

}  // namespace headway
