#pragma once

#include <vector>

#include "sim/base/units.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

// Messages that a layer's ranks exchange in one pass of a micro-batch. Activations travel as the
// forward pass uses them. What of them is waited for, and which links carry them, is sim/programs'
// business.

/// The message of one of its tensor-parallel exchanges: all of its tokens, whole.
[[nodiscard]] Bytes tensor_message(const TensorExchange& exchange, const RankShape& shape);

/// The same as sequence-parallel ranks gather it, which they may after it is quantised.
[[nodiscard]] Bytes gathered_message(const TensorExchange& exchange, const RankShape& shape);

/// The logits that every tensor-parallel rank gathers to take the whole loss; nothing where each
/// takes its part.
[[nodiscard]] Bytes logits_message(const Layer& last, const RankShape& shape);

/// Whether the exchanges of a layer are alike in size is the layer's business; what of those of its
/// forward pass is run again with these parts, as a share of all their bytes.
[[nodiscard]] double exchanged_again(const Layer& layer, const RankShape& shape,
                                     const RecomputeParts& parts);

/// What context-parallel ranks send of their tokens' attention. In cross attention those of the
/// text ask, and keys and values are those of what is read.
struct ContextMessages {
  Bytes queries;
  Bytes keys;
  Bytes values;
  Bytes outputs;
  [[nodiscard]] Bytes keys_and_values() const { return keys + values; }
  [[nodiscard]] Bytes all() const { return queries + keys_and_values() + outputs; }
};
[[nodiscard]] ContextMessages context_messages(const Layer& layer, const RankShape& shape);

/// Rows of the tokens that a rank routes, one for each expert they go to, on the busiest rank.
/// Requires a layer with experts.
[[nodiscard]] Bytes routed_message(const Layer& layer, const RankShape& shape);

/// What a stage hands on to the next, on one rank. Tensor-parallel ranks send a part each, if with
/// sequence parallelism it is all they have, or if they share out what all of them have (Narayanan
/// et al. 2021, section 4.1); else each sends all of it.
[[nodiscard]] Bytes stage_message(const Layer& last_of_stage, const RankShape& shape);

}  // namespace headway
