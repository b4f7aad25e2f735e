#pragma once

#include <cublasLt.h>

#include <cstdint>

#include "calibrate/cuda/device_resources.h"

namespace headway {

/// A matrix as cuBLASLt sees it: columns `leading` elements apart, of several matrices each
/// `stride` elements after the one before.
struct ColumnMajorMatrix {
  cudaDataType type = CUDA_R_16BF;
  long rows = 0;
  long columns = 0;
  long leading = 0;
  long stride = 0;
};

/// result = first * second, each of them transposed where it says so.
struct ColumnMajorProduct {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool first_transposed = false;
  bool second_transposed = false;
  ColumnMajorMatrix first;
  ColumnMajorMatrix second;
  ColumnMajorMatrix result;
  int batch = 1;
};

/// A descriptor of cuBLASLt with its own way to be destroyed.
template <class Handle, cublasStatus_t (*kDestroy)(Handle)>
class CublasLtOwned {
 public:
  CublasLtOwned() = default;
  ~CublasLtOwned() {
    if (handle_ != nullptr) (void)kDestroy(handle_);
  }
  CublasLtOwned(const CublasLtOwned&) = delete;
  CublasLtOwned& operator=(const CublasLtOwned&) = delete;
  [[nodiscard]] Handle* target() { return &handle_; }
  operator Handle() const { return handle_; }  // NOLINT: it is one

 private:
  Handle handle_ = nullptr;
};

/// Everything about a product that stays the same from one repetition to the next: cuBLASLt's first
/// choice with a workspace of 32 MiB.
class CublasLtPlan {
 public:
  /// Throws Refused where cuBLASLt has no kernel for it.
  explicit CublasLtPlan(const ColumnMajorProduct& product);
  void run(const void* first, const void* second, void* result, float scale,
           cudaStream_t stream) const;

 private:
  using Layout = CublasLtOwned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  CublasLtOwned<cublasLtHandle_t, cublasLtDestroy> library_;
  CublasLtOwned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> product_;
  Layout first_;
  Layout second_;
  Layout result_;
  CublasLtOwned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference_;
  cublasLtMatmulHeuristicResult_t choice_{};
  DevicePool workspace_;
};

}  // namespace headway
