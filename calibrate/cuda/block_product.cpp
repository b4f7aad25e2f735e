#include "calibrate/cuda/block_product.h"

#include <fmt/format.h>

#include "calibrate/cuda/cublaslt_gemm.h"

namespace headway {

ColumnMajorProduct column_major(const BlockProduct& product, bool result_is_fp32) {
  const ColumnMajorGemm gemm =
      column_major(GemmPoint{product.shape, Precision::bf16, product.layout});
  return {CUBLAS_COMPUTE_32F,
          gemm.first_transposed,
          gemm.second_transposed,
          {CUDA_R_16BF, gemm.first_rows, gemm.first_columns, product.b.leading, product.b.stride},
          {CUDA_R_16BF, gemm.second_rows, gemm.second_columns, product.a.leading, product.a.stride},
          {result_is_fp32 ? CUDA_R_32F : CUDA_R_16BF, gemm.result_rows, gemm.result_columns,
           product.c.leading, product.c.stride},
          product.batch};
}

std::string product_name(const BlockProduct& product, bool result_is_fp32) {
  return fmt::format("{} of {} to {}, rows {} {} {}, strides {} {} {}",
                     point_text(GemmPoint{product.shape, Precision::bf16, product.layout}),
                     product.batch, result_is_fp32 ? "fp32" : "bf16", product.a.leading,
                     product.b.leading, product.c.leading, product.a.stride, product.b.stride,
                     product.c.stride);
}

}  // namespace headway
