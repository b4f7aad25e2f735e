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
      return {fp8_format().type, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case Precision::fp4:
#if HEADWAY_BLOCK_SCALES
      return {CUDA_R_4F_E2M1, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
#else
      throw Refused("built without fp4: CUDA has it since 12.8");
#endif
  }
  HEADWAY_CHECK(false, "unknown precision");
}

}  // namespace

Enqueue cublaslt_gemm(const BatchedGemmPoint& point, const GemmPools& pools) {
  const Types type = types(point.gemm.precision);
  const ColumnMajorGemm gemm = column_major(point.gemm);
  const auto dense = [](cudaDataType of, long rows, long columns) {
    return ColumnMajorMatrix{of, rows, columns, rows, rows * columns};
  };
  const bool adds = point.gemm.accumulates;
  const std::size_t of_scale = elements_of_scale(point.gemm);
  const BlockScales scales = of_scale == 0    ? BlockScales::none
                             : of_scale == 32 ? BlockScales::of_32
                                              : BlockScales::of_16;
  const auto plan = std::make_shared<CublasLtPlan>(ColumnMajorProduct{
      type.compute, gemm.first_transposed, gemm.second_transposed,
      dense(type.operand, gemm.first_rows, gemm.first_columns),
      dense(type.operand, gemm.second_rows, gemm.second_columns),
      dense(adds ? CUDA_R_32F : type.result, gemm.result_rows, gemm.result_columns), point.batch,
      scales});
  return [plan, bytes = gemm_bytes(point), pools, of_scale, adds](cudaStream_t stream) {
    ProductOperands operands{pools.b.take(bytes.b), pools.a.take(bytes.a), pools.c.take(bytes.c)};
    if (of_scale > 0) {
      operands.first_scales = pools.scales->take(bytes.scales_of_b);
      operands.second_scales = pools.scales->take(bytes.scales_of_a);
    }
    plan->run(operands, 1.0F, adds ? 1.0F : 0.0F, stream);
  };
}

}  // namespace headway
