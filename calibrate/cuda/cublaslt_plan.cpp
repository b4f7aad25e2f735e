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

#if HEADWAY_BLOCK_SCALES
void set_scale_modes(cublasLtMatmulDesc_t description, BlockScales scales) {
  const cublasLtMatmulMatrixScale_t mode = scales == BlockScales::of_32
                                               ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0
                                               : CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
  for (const auto which : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}) {
    HEADWAY_CUDA(cublasLtMatmulDescSetAttribute(description, which, &mode, sizeof mode));
  }
}
#else
void set_scale_modes(cublasLtMatmulDesc_t, BlockScales) {
  throw Refused("built without block scales: CUDA has them since 12.8");
}
#endif

/// Those of this product, as cuBLASLt reads the place when the product is put on a stream.
void set_scales(cublasLtMatmulDesc_t description, const void* first, const void* second) {
  HEADWAY_CUDA(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                                              &first, sizeof first));
  HEADWAY_CUDA(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                                              &second, sizeof second));
}

}  // namespace

std::size_t scale_place(std::size_t inner, std::size_t row, std::size_t block) {
  const std::size_t tiles_across = (inner + 3) / 4;
  const std::size_t tile = row / 128 * tiles_across + block / 4;
  return 512 * tile + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

std::size_t scale_bytes(std::size_t outer, std::size_t inner) {
  return (outer + 127) / 128 * ((inner + 3) / 4) * 512;
}

CublasLtPlan::CublasLtPlan(const ColumnMajorProduct& product)
    : workspace_(kWorkspace), is_block_scaled_(product.scales != BlockScales::none) {
  HEADWAY_CUDA(cublasLtCreate(library_.target()));
  HEADWAY_CUDA(cublasLtMatmulDescCreate(product_.target(), product.compute, CUDA_R_32F));
  set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSA, product.first_transposed);
  set_transposed(product_, CUBLASLT_MATMUL_DESC_TRANSB, product.second_transposed);
  if (is_block_scaled_) {
    set_scale_modes(product_, product.scales);
    set_scales(product_, workspace_.data(), workspace_.data());  // to choose a kernel by
  }
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
    throw Refused(fmt::format("cuBLASLt has no kernel: {}", product_status(chosen)));
  }
  HEADWAY_CUDA(chosen);
  if (found == 0) throw Refused("cuBLASLt has no kernel");
}

void CublasLtPlan::run(const ProductOperands& operands, float scale, float kept,
                       cudaStream_t stream) const {
  if (is_block_scaled_) set_scales(product_, operands.first_scales, operands.second_scales);
  HEADWAY_CUDA(cublasLtMatmul(library_, product_, &scale, operands.first, first_, operands.second,
                              second_, &kept, operands.result, result_, operands.result, result_,
                              &choice_.algo, workspace_.data(), kWorkspace, stream));
}

}  // namespace headway
