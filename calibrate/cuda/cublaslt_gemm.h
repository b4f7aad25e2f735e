#pragma once

#include <cublasLt.h>

#include "calibrate/cuda/captured_work.h"
#include "calibrate/suite/point.h"

namespace headway {

/// A product as frameworks run it: cuBLASLt's first choice with a workspace of 32 MiB. Row-major
/// operands come from the pools; the result has 2 bytes an element, or 4 where the operands do.
/// fp8 exists in one layout only (both operands with k innermost), whatever the point says.
[[nodiscard]] Enqueue cublaslt_gemm(const BatchedGemmPoint& point, DevicePool& a, DevicePool& b,
                                    DevicePool& c);

/// What the row-major operands and the results occupy.
struct GemmBytes {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
};
[[nodiscard]] GemmBytes gemm_bytes(const BatchedGemmPoint& point);

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
