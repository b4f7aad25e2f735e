#pragma once

#include <map>
#include <vector>

#include "calibrate/cuda/cudnn/cudnn_descriptor.h"

namespace headway {

/// Batch, heads, rows and columns.
using TensorSizes = std::vector<std::int64_t>;

/// Row after row, head after head.
[[nodiscard]] TensorSizes dense_strides(const TensorSizes& sizes);

/// Operations on tensors that cuDNN is asked to run as one kernel or few. Tensors are known by
/// number: those in memory have the numbers the caller gives them, from 1 to kMostStored, results
/// that only pass from one operation to the next get others.
class CudnnGraph {
 public:
  using Tensor = std::int64_t;
  static constexpr Tensor kMostStored = 99;

  /// A tensor in memory.
  Tensor stored(Tensor number, const TensorSizes& sizes, const TensorSizes& strides,
                cudnnDataType_t type);
  /// A number that the host knows.
  Tensor scalar(float value);
  /// A tensor between two operations.
  Tensor passing(const TensorSizes& sizes, const TensorSizes& strides,
                 cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor passing(const TensorSizes& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return passing(sizes, dense_strides(sizes), type);
  }

  // Each adds an operation and returns `result`, a tensor that was made for it.
  Tensor product(Tensor a, Tensor b, Tensor result);
  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor result);
  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor y, Tensor result);
  /// x where `mask` holds, else y.
  Tensor select(Tensor mask, Tensor x, Tensor y, Tensor result);
  /// For each element of `like` its position along `axis`.
  Tensor position(Tensor like, std::int64_t axis, Tensor result);
  Tensor reduce(cudnnReduceTensorOp_t mode, Tensor x, Tensor result);
  /// The same elements with other sizes and strides.
  Tensor reshape(Tensor x, Tensor result);

  /// The operations as a descriptor, finished; for the handle's device where it is not null. Throws
  /// EnvironmentError where they do not fit.
  [[nodiscard]] CudnnDescriptor finished(cudnnHandle_t handle) const;
  /// Numbers that the host knows, by tensor; they stay where they are.
  [[nodiscard]] const std::map<Tensor, float>& scalars() const { return scalars_; }

 private:
  Tensor add(Tensor number, const TensorSizes& sizes, const TensorSizes& strides,
             cudnnDataType_t type, bool is_passing, bool is_scalar);
  void add_pointwise(const CudnnDescriptor& description, Tensor x, const Tensor* y,
                     const Tensor* mask, Tensor result);

  Tensor next_ = kMostStored + 1;
  std::map<Tensor, CudnnDescriptor> tensors_;
  std::map<Tensor, float> scalars_;
  std::vector<CudnnDescriptor> described_;  ///< modes, which operations refer to
  std::vector<CudnnDescriptor> operations_;
};

}  // namespace headway
