#pragma once

#include "sim/jobs/strategy.h"
#include "sim/layers/kernel_shape.h"
#include "sim/models/operators.h"
#include "sim/models/transformer.h"

namespace headway {

// What one rank of a job computes, before anything is said of its cost.

[[nodiscard]] ShardShape shard_of(const Strategy& strategy);

/// What stays in 16 bits in every low-precision recipe: attention and the output head.
[[nodiscard]] Precision wide_precision(Precision precision);

/// Of a layer, adapters included where the strategy trains these.
[[nodiscard]] Operators layer_work(const TransformerModel& model, const Strategy& strategy,
                                   LayerKind kind);
/// Of the output head and the loss.
[[nodiscard]] Operators head_work(const TransformerModel& model, const Strategy& strategy);

/// The products of a linear layer m x n x k (Narayanan et al. 2021): each has its own shape.
struct LinearProducts {
  GemmShape forward;          ///< m x n x k
  GemmShape data_gradient;    ///< m x k x n
  GemmShape weight_gradient;  ///< n x k x m; of a layer that is trained
};
[[nodiscard]] LinearProducts linear_products(const GemmShape& forward);

}  // namespace headway
