#include <cblas.h>

#include "calibrate/block/block_device.h"
#include "calibrate/cpu/cpu_backend.h"

namespace headway {

void use_one_blas_thread() { openblas_set_num_threads(1); }

void cpu_gemm(const GemmShape& shape, GemmLayout layout, const MatrixRows<const float>& a,
              const MatrixRows<const float>& b, const MatrixRows<float>& c, float scale,
              float kept) {
  const auto of = [](double size) { return static_cast<blasint>(size); };
  const auto leading = [](long elements) { return static_cast<blasint>(elements); };
  cblas_sgemm(CblasRowMajor, layout == GemmLayout::tn ? CblasTrans : CblasNoTrans,
              layout == GemmLayout::nt ? CblasTrans : CblasNoTrans, of(shape.m), of(shape.n),
              of(shape.k), scale, a.data, leading(a.leading), b.data, leading(b.leading), kept,
              c.data, leading(c.leading));
}

void cpu_gemm(const GemmPoint& point, const float* a, const float* b, float* c, bool accumulates) {
  const BlockProduct whole = whole_product(point.shape, point.layout);
  cpu_gemm(point.shape, point.layout, {a, whole.a.leading}, {b, whole.b.leading},
           {c, whole.c.leading}, 1.0F, accumulates ? 1.0F : 0.0F);
}

}  // namespace headway
