#include "calibrate/cuda/cudnn/cudnn_graph.h"

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::int64_t kAlignment = 16;  ///< bytes; device memory comes in 256

CudnnDescriptor pointwise_mode(cudnnPointwiseMode_t mode, cudnnDataType_t computes) {
  CudnnDescriptor description(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  description.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode);
  description.set(CUDNN_ATTR_POINTWISE_MATH_PREC, computes);
  return description;
}

bool is_comparison(cudnnPointwiseMode_t mode) {
  return mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE;
}

}  // namespace

TensorSizes dense_strides(const TensorSizes& sizes) {
  TensorSizes strides(sizes.size(), 1);
  for (std::size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

CudnnGraph::Tensor CudnnGraph::add(Tensor number, const TensorSizes& sizes,
                                   const TensorSizes& strides, cudnnDataType_t type,
                                   bool is_passing, bool is_scalar) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes);
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_passing);
  tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, is_scalar);
  tensor.finish();
  HEADWAY_CHECK(tensors_.emplace(number, std::move(tensor)).second, "a tensor's number twice");
  return number;
}

CudnnGraph::Tensor CudnnGraph::stored(Tensor number, const TensorSizes& sizes,
                                      const TensorSizes& strides, cudnnDataType_t type) {
  HEADWAY_CHECK(number > 0 && number <= kMostStored, "a number of a tensor in memory");
  return add(number, sizes, strides, type, false, false);
}

CudnnGraph::Tensor CudnnGraph::scalar(float value) {
  const Tensor number = next_++;
  scalars_[number] = value;
  const TensorSizes one(4, 1);
  return add(number, one, one, CUDNN_DATA_FLOAT, false, true);
}

CudnnGraph::Tensor CudnnGraph::passing(const TensorSizes& sizes, const TensorSizes& strides,
                                       cudnnDataType_t type) {
  return add(next_++, sizes, strides, type, true, false);
}

CudnnGraph::Tensor CudnnGraph::product(Tensor a, Tensor b, Tensor result) {
  CudnnDescriptor description(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  description.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  description.finish();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, tensors_.at(a));
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, tensors_.at(b));
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, tensors_.at(result));
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, description);
  operation.finish();
  described_.push_back(std::move(description));
  operations_.push_back(std::move(operation));
  return result;
}

void CudnnGraph::add_pointwise(const CudnnDescriptor& description, Tensor x, const Tensor* y,
                               const Tensor* mask, Tensor result) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, description);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensors_.at(x));
  if (y != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tensors_.at(*y));
  if (mask != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, tensors_.at(*mask));
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensors_.at(result));
  operation.finish();
  operations_.push_back(std::move(operation));
}

CudnnGraph::Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor result) {
  described_.push_back(pointwise_mode(mode, CUDNN_DATA_FLOAT));
  described_.back().finish();
  add_pointwise(described_.back(), x, nullptr, nullptr, result);
  return result;
}

CudnnGraph::Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor y,
                                         Tensor result) {
  described_.push_back(
      pointwise_mode(mode, is_comparison(mode) ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT));
  described_.back().finish();
  add_pointwise(described_.back(), x, &y, nullptr, result);
  return result;
}

CudnnGraph::Tensor CudnnGraph::select(Tensor mask, Tensor x, Tensor y, Tensor result) {
  described_.push_back(pointwise_mode(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT));
  described_.back().finish();
  add_pointwise(described_.back(), x, &y, &mask, result);
  return result;
}

CudnnGraph::Tensor CudnnGraph::position(Tensor like, std::int64_t axis, Tensor result) {
  described_.push_back(pointwise_mode(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32));
  described_.back().set(CUDNN_ATTR_POINTWISE_AXIS, axis);
  described_.back().finish();
  add_pointwise(described_.back(), like, nullptr, nullptr, result);
  return result;
}

CudnnGraph::Tensor CudnnGraph::reduce(cudnnReduceTensorOp_t mode, Tensor x, Tensor result) {
  CudnnDescriptor description(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  description.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, &mode);
  description.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  description.finish();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, description);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, tensors_.at(x));
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, tensors_.at(result));
  operation.finish();
  described_.push_back(std::move(description));
  operations_.push_back(std::move(operation));
  return result;
}

CudnnGraph::Tensor CudnnGraph::reshape(Tensor x, Tensor result) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, tensors_.at(x));
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, tensors_.at(result));
  operation.finish();
  operations_.push_back(std::move(operation));
  return result;
}

CudnnDescriptor CudnnGraph::finished(cudnnHandle_t handle) const {
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle != nullptr) {
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
  }
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
  graph.finish();
  return graph;
}

}  // namespace headway
