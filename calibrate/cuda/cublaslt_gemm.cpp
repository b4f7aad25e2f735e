#include "calibrate/cuda/cublaslt_gemm.h"

#include <memory>

#include "calibrate/cuda/cublaslt_plan.h"

namespace headway {
namespace {

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

}  // namespace

Enqueue cublaslt_gemm(const BatchedGemmPoint& point, DevicePool& a, DevicePool& b, DevicePool& c) {
  const Types type = types(point.gemm.precision);
  const ColumnMajorGemm gemm = column_major(point.gemm);
  const auto dense = [](cudaDataType of, long rows, long columns) {
    return ColumnMajorMatrix{of, rows, columns, rows, rows * columns};
  };
  const auto plan = std::make_shared<CublasLtPlan>(
      ColumnMajorProduct{type.compute, gemm.first_transposed, gemm.second_transposed,
                         dense(type.operand, gemm.first_rows, gemm.first_columns),
                         dense(type.operand, gemm.second_rows, gemm.second_columns),
                         dense(type.result, gemm.result_rows, gemm.result_columns), point.batch});
  return [plan, bytes = gemm_bytes(point), &a, &b, &c](cudaStream_t stream) {
    plan->run(b.take(bytes.b), a.take(bytes.a), c.take(bytes.c), 1.0F, stream);
  };
}

}  // namespace headway
