#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/cuda/cudnn/cudnn_graph.h"
#include "sim/layers/kernel_shape.h"

namespace headway {

/// The tensors of fused attention in memory, all in bf16 but the last three in fp32. Positions
/// stand one after the other, the heads of a position side by side, as projections write them.
enum class AttentionTensor : CudnnGraph::Tensor {
  queries = 1,
  keys,
  values,
  result,
  result_gradient,
  query_gradient,
  key_gradient,
  value_gradient,
  statistics,  ///< logarithm of the sum of each row's exponentials
  row_sums,    ///< of each position, result times its gradient
  /// The gradient of the queries while it is summed up. cuDNN sets it to zero itself in each pass
  /// since 9.6 (cudnn-frontend at 01a727e has callers do so for older ones only), as in training.
  query_sums
};

struct StoredTensor {
  AttentionTensor tensor;
  std::size_t bytes = 0;
};

/// Attention as operations that cuDNN fuses: its documented patterns of flash attention, forward
/// with the statistics that training keeps, and backward.
struct AttentionGraph {
  CudnnGraph operations;
  std::vector<StoredTensor> stored;
};

/// Has as many keys as queries, heads of the same size. Throws EnvironmentError where cuDNN does
/// not take the sizes.
[[nodiscard]] AttentionGraph attention_forward_graph(const AttentionShape& shape);
[[nodiscard]] AttentionGraph attention_backward_graph(const AttentionShape& shape);

}  // namespace headway
