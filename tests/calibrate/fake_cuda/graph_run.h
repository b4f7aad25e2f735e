#pragma once

#include <cudnn_graph.h>

#include <map>
#include <vector>

namespace fake_cuda {

/// A tensor of a graph as its descriptor has it: batch, heads, rows and columns.
struct GraphTensor {
  std::int64_t number = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  bool is_passing = false;
  bool is_scalar = false;
};

/// An operation on tensors by number; 0 is none.
struct GraphOperation {
  enum class Kind { product, pointwise, reduction, reshape };
  Kind kind = Kind::pointwise;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  std::int64_t axis = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t mask = 0;
  std::int64_t result = 0;
};

struct OperationGraph {
  std::map<std::int64_t, GraphTensor> tensors;
  std::vector<GraphOperation> operations;
};

/// Whether the sizes of every operation's tensors fit together.
[[nodiscard]] bool fits(const OperationGraph& graph);

/// Does one operation after the other, in double precision but for what tensors' types take off;
/// `memory` has those in memory and those that the host knows.
void run(const OperationGraph& graph, const std::map<std::int64_t, void*>& memory);

}  // namespace fake_cuda
