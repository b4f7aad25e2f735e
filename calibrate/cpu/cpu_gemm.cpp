#include <cblas.h>

#include "calibrate/cpu/cpu_backend.h"

namespace headway {

void use_one_blas_thread() { openblas_set_num_threads(1); }

void cpu_gemm(const GemmPoint& point, const float* a, const float* b, float* c, bool accumulates) {
  const auto m = static_cast<blasint>(point.shape.m);
  const auto n = static_cast<blasint>(point.shape.n);
  const auto k = static_cast<blasint>(point.shape.k);
  const bool a_transposed = point.layout == GemmLayout::tn;
  const bool b_transposed = point.layout == GemmLayout::nt;
  cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
              b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1.0F, a, a_transposed ? m : k, b,
              b_transposed ? k : n, accumulates ? 1.0F : 0.0F, c, n);
}

}  // namespace headway
