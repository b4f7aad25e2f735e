#include "calibrate/cuda/cublaslt_gemm.h"

#include <utility>

namespace headway {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20U;

struct Types {
  cudaDataType operand = CUDA_R_16BF;
  cudaDataType result = CUDA_R_16BF;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

Types types(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return {};
    case Precision::fp16:
      return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case Precision::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case Precision::fp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Precision::fp8:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case Precision::fp4:
      break;  // no device offers it here
  }
  HEADWAY_CHECK(false, "unknown precision");
}

/// A descriptor of cuBLASLt with its own way to be destroyed.
template <class Handle, cublasStatus_t (*kDestroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_ != nullptr) (void)kDestroy(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] Handle* target() { return &handle_; }
  operator Handle() const { return handle_; }  // NOLINT: it is one

 private:
  Handle handle_ = nullptr;
};

void set_transposed(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which,
                    bool transposed) {
  const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  HEADWAY_CUDA(cublasLtMatmulDescSetAttribute(description, which, &operation, sizeof operation));
}

/// Everything that stays the same from one repetition to the next.
class Plan {
 public:
  explicit Plan(const GemmPoint& point) : workspace_(kWorkspace) {
    const Types type = types(point.precision);
    const ColumnMajorGemm gemm = column_major(point);
    HEADWAY_CUDA(cublasLtCreate(library_.target()));
    HEADWAY_CUDA(cublasLtMatmulDescCreate(product_.target(), type.compute, CUDA_R_32F));
    set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSA, gemm.first_transposed);
    set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSB, gemm.second_transposed);
    const auto layout = [](auto& target, cudaDataType type_of, long rows, long columns) {
      HEADWAY_CUDA(cublasLtMatrixLayoutCreate(target.target(), type_of,
                                              static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), rows));
    };
    layout(first_, type.operand, gemm.first_rows, gemm.first_columns);
    layout(second_, type.operand, gemm.second_rows, gemm.second_columns);
    layout(result_, type.result, gemm.result_rows, gemm.result_columns);
    HEADWAY_CUDA(cublasLtMatmulPreferenceCreate(preference_.target()));
    HEADWAY_CUDA(cublasLtMatmulPreferenceSetAttribute(
        preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace));
    int found = 0;
    HEADWAY_CUDA(cublasLtMatmulAlgoGetHeuristic(library_, product_, first_, second_, result_,
                                                result_, preference_, 1, &choice_, &found));
    if (found == 0) {
      throw EnvironmentError("cuBLASLt has no kernel for " + point_text(point));
    }
  }

  void run(const void* first, const void* second, void* result, cudaStream_t stream) const {
    const float one = 1.0F;
    const float zero = 0.0F;
    HEADWAY_CUDA(cublasLtMatmul(library_, product_, &one, first, first_, second, second_, &zero,
                                result, result_, result, result_, &choice_.algo, workspace_.data(),
                                kWorkspace, stream));
  }

 private:
  Owned<cublasLtHandle_t, cublasLtDestroy> library_;
  Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> product_;
  Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> first_;
  Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> second_;
  Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> result_;
  Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference_;
  cublasLtMatmulHeuristicResult_t choice_{};
  DevicePool workspace_;
};

}  // namespace

Enqueue cublaslt_gemm(const GemmPoint& point, DevicePool& a, DevicePool& b, DevicePool& c) {
  const auto plan = std::make_shared<Plan>(point);
  return [plan, bytes = gemm_bytes(point), &a, &b, &c](cudaStream_t stream) {
    plan->run(b.take(bytes.b), a.take(bytes.a), c.take(bytes.c), stream);
  };
}

}  // namespace headway
