#pragma once

#include "calibrate/cuda/captured_work.h"
#include "calibrate/suite/point.h"

namespace headway {

/// What a product takes its operands from, and writes its results to; `scales` is for operands with
/// block scales only.
struct GemmPools {
  DevicePool& a;
  DevicePool& b;
  DevicePool& c;
  DevicePool* scales = nullptr;
};

/// A product as frameworks run it: cuBLASLt's first choice with a workspace of 32 MiB. Row-major
/// operands come from the pools; the result has 2 bytes an element, or 4 where the operands do or
/// it is added to what stands there. fp8 and fp4 exist in one layout only (both operands with k
/// innermost), whatever the point says.
[[nodiscard]] Enqueue cublaslt_gemm(const BatchedGemmPoint& point, const GemmPools& pools);

/// What the row-major operands, the results and the scales of blocks occupy.
struct GemmBytes {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
  std::size_t scales_of_a = 0;
  std::size_t scales_of_b = 0;
};
[[nodiscard]] GemmBytes gemm_bytes(const BatchedGemmPoint& point);

/// Elements that share a scale, 0 where an operand has one for the whole.
[[nodiscard]] std::size_t elements_of_scale(const GemmPoint& point);

/// Where a column-major library finds row-major operands: C^T = B^T A^T, so that its first operand
/// is B and its second A.
struct ColumnMajorGemm {
  bool first_transposed = false;
  bool second_transposed = false;
  long first_rows = 0, first_columns = 0;
  long second_rows = 0, second_columns = 0;
  long result_rows = 0, result_columns = 0;
};
[[nodiscard]] ColumnMajorGemm column_major(const GemmPoint& point);

}  // namespace headway
