#include "calibrate/cuda/cublaslt_gemm.h"

namespace headway {

ColumnMajorGemm column_major(const GemmPoint& point) {
  const long m = static_cast<long>(point.shape.m);
  const long n = static_cast<long>(point.shape.n);
  const long k = static_cast<long>(point.shape.k);
  const bool is_fp8 = point.precision == Precision::fp8;
  const bool a_transposed = point.layout == GemmLayout::tn && !is_fp8;
  const bool b_transposed = point.layout == GemmLayout::nt || is_fp8;
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

GemmBytes gemm_bytes(const BatchedGemmPoint& point) {
  const auto& [m, n, k] = point.gemm.shape;
  const double operand = bytes_per_element(point.gemm.precision);
  const double result = operand < 4.0 ? 2.0 : 4.0;
  const auto all = [&point](double bytes) { return static_cast<std::size_t>(point.batch * bytes); };
  return {all(m * k * operand), all(k * n * operand), all(m * n * result)};
}

}  // namespace headway
