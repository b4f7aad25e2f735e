#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/cublaslt_plan.h"

namespace headway {

ColumnMajorGemm column_major(const GemmPoint& point) {
  const long m = static_cast<long>(point.shape.m);
  const long n = static_cast<long>(point.shape.n);
  const long k = static_cast<long>(point.shape.k);
  const bool is_narrow = bytes_per_element(point.precision) < 2.0;
  const bool a_transposed = point.layout == GemmLayout::tn && !is_narrow;
  const bool b_transposed = point.layout == GemmLayout::nt || is_narrow;
  // A row-major matrix of r rows and c columns is a column-major one of c rows and r columns.
  ColumnMajorGemm gemm;
  gemm.first_transposed = b_transposed;
  gemm.first_rows = b_transposed ? k : n;
  gemm.first_columns = b_transposed ? n : k;
  gemm.second_transposed = a_transposed;
  gemm.second_rows = a_transposed ? m : k;
  gemm.second_columns = a_transposed ? k : m;
  gemm.result_rows = n;
  gemm.result_columns = m;
  return gemm;
}

std::size_t elements_of_scale(const GemmPoint& point) {
  if (point.precision == Precision::fp4) return 16;
  return point.block_scaled ? 32 : 0;
}

GemmBytes gemm_bytes(const BatchedGemmPoint& point) {
  const auto& [m, n, k] = point.gemm.shape;
  // A byte holds two numbers of fp4; bytes_per_element counts the scales as well, which stand
  // elsewhere.
  const bool is_fp4 = point.gemm.precision == Precision::fp4;
  const double operand = is_fp4 ? 0.5 : bytes_per_element(point.gemm.precision);
  const double result = operand < 4.0 && !point.gemm.accumulates ? 2.0 : 4.0;
  const auto all = [&point](double bytes) { return static_cast<std::size_t>(point.batch * bytes); };
  GemmBytes bytes{all(m * k * operand), all(k * n * operand), all(m * n * result)};
  const std::size_t of_scale = elements_of_scale(point.gemm);
  if (of_scale > 0) {
    const std::size_t blocks = (static_cast<std::size_t>(k) + of_scale - 1) / of_scale;
    bytes.scales_of_a = scale_bytes(static_cast<std::size_t>(m), blocks);
    bytes.scales_of_b = scale_bytes(static_cast<std::size_t>(n), blocks);
  }
  return bytes;
}

}  // namespace headway
