#include "calibrate/output/gemm_fit.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

/// A product of 2 m n k operations at `rate`, each k with a start worth `half` more, and `start_s`.
MeasuredGemm product(const GemmShape& shape, Precision precision, double rate, double half,
                     double start_s) {
  const double time = start_s + shape.flops() / rate * (1.0 + half / shape.k);
  return {shape, precision, Seconds(time), 0.01};
}

/// Plain cores (fp32) start otherwise than tensor cores: the constants are those that layers are
/// trained with, and each precision has its own rate all the same, small products among them.
TEST(FittedGemm, HasTheConstantsOfWhatIsTrainedAndTheRateOfEach) {
  std::vector<MeasuredGemm> table;
  for (const double m : {64.0, 1024.0, 16384.0}) {
    for (const double n : {512.0, 8192.0}) {
      for (const double k : {64.0, 512.0, 2048.0, 16384.0}) {
        const GemmShape shape{m, n, k};
        table.push_back(product(shape, Precision::fp32, 60e12, 0.0, 6e-6));
        table.push_back(product(shape, Precision::fp16, 780e12, 120.0, 2.6e-6));
        table.push_back(product(shape, Precision::bf16, 800e12, 120.0, 2.6e-6));
      }
    }
  }
  const GemmFit fit = fitted_gemm(table, 1, 1e30);
  EXPECT_NEAR(fit.inner_half, 120.0, 0.1);
  EXPECT_NEAR(fit.overhead, 2.6e-6, 1e-9);
  EXPECT_NEAR(fit.rate.at(Precision::bf16), 800e12, 1e9);
  EXPECT_NEAR(fit.rate.at(Precision::fp16), 780e12, 1e9);
  // What the others' constants do to short inner sizes of plain cores is in their rate.
  EXPECT_NEAR(fit.rate.at(Precision::fp32), 60e12, 6e12);
}

}  // namespace
}  // namespace headway
