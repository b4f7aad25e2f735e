#include "calibrate/cuda/cublaslt_plan.h"

#include "calibrate/cuda/cuda_check.h"

namespace headway {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20U;

void set_transposed(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which,
                    bool transposed) {
  const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  HEADWAY_CUDA(cublasLtMatmulDescSetAttribute(description, which, &operation, sizeof operation));
}

void describe(cublasLtMatrixLayout_t* target, const ColumnMajorMatrix& matrix, int batch) {
  HEADWAY_CUDA(
      cublasLtMatrixLayoutCreate(target, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                 static_cast<std::uint64_t>(matrix.columns), matrix.leading));
  if (batch == 1) return;
  const std::int64_t stride = matrix.stride;
  HEADWAY_CUDA(cublasLtMatrixLayoutSetAttribute(*target, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                                sizeof batch));
  HEADWAY_CUDA(cublasLtMatrixLayoutSetAttribute(
      *target, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
}

}  // namespace

CublasLtPlan::CublasLtPlan(const ColumnMajorProduct& product) : workspace_(kWorkspace) {
  HEADWAY_CUDA(cublasLtCreate(library_.target()));
  HEADWAY_CUDA(cublasLtMatmulDescCreate(product_.target(), product.compute, CUDA_R_32F));
  set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSA, product.first_transposed);
  set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSB, product.second_transposed);
  describe(first_.target(), product.first, product.batch);
  describe(second_.target(), product.second, product.batch);
  describe(result_.target(), product.result, product.batch);
  HEADWAY_CUDA(cublasLtMatmulPreferenceCreate(preference_.target()));
  HEADWAY_CUDA(cublasLtMatmulPreferenceSetAttribute(
      preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace));
  int found = 0;
  const cublasStatus_t chosen = cublasLtMatmulAlgoGetHeuristic(
      library_, product_, first_, second_, result_, result_, preference_, 1, &choice_, &found);
  // What it says of a shape that it has no kernel for depends on the release.
  if (chosen == CUBLAS_STATUS_NOT_SUPPORTED || chosen == CUBLAS_STATUS_INVALID_VALUE) {
    throw Refused(fmt::format("cuBLASLt has no kernel: {}", cublasLtGetStatusString(chosen)));
  }
  HEADWAY_CUDA(chosen);
  if (found == 0) throw Refused("cuBLASLt has no kernel");
}

void CublasLtPlan::run(const void* first, const void* second, void* result, float scale,
                       cudaStream_t stream) const {
  const float zero = 0.0F;
  HEADWAY_CUDA(cublasLtMatmul(library_, product_, &scale, first, first_, second, second_, &zero,
                              result, result_, result, result_, &choice_.algo, workspace_.data(),
                              kWorkspace, stream));
}

}  // namespace headway
