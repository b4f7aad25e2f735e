#pragma once

#include <cstdint>

#include "calibrate/cuda/device_api.h"
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

/// Elements along the inner dimension that share a scale: none but the whole operand, 32 numbers of
/// fp8 with a power of two (mxfp8), or 16 of fp4 with a number of e4m3 (nvfp4).
enum class BlockScales { none, of_32, of_16 };
/// Whether the library that this was built with has them.
inline constexpr bool kHasBlockScales = HEADWAY_BLOCK_SCALES;

/// Where the scales of a matrix of `outer` rows of `inner` blocks have the one of (row, block), and
/// how many bytes they need: tiles of 128 rows by 4 blocks, of which each holds the rows that are
/// 32 apart side by side (cuBLAS library user guide, "1D block scaling factors layout").
[[nodiscard]] std::size_t scale_place(std::size_t inner, std::size_t row, std::size_t block);
[[nodiscard]] std::size_t scale_bytes(std::size_t outer, std::size_t inner);

/// result = first * second, each of them transposed where it says so.
struct ColumnMajorProduct {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool first_transposed = false;
  bool second_transposed = false;
  ColumnMajorMatrix first;
  ColumnMajorMatrix second;
  ColumnMajorMatrix result;
  int batch = 1;
  BlockScales scales = BlockScales::none;  ///< of both operands
};

/// What is multiplied, of which the scales are for operands with block scales only.
struct ProductOperands {
  const void* first = nullptr;
  const void* second = nullptr;
  void* result = nullptr;
  const void* first_scales = nullptr;
  const void* second_scales = nullptr;
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
  /// result = scale * first * second, and `kept` times what stood there.
  void run(const ProductOperands& operands, float scale, float kept, cudaStream_t stream) const;

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
  bool is_block_scaled_;
};

}  // namespace headway
