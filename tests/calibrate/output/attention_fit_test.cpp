#include "calibrate/output/attention_fit.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

/// Large products reach 50 TFLOP/s.
DeviceCosts device() {
  DeviceCosts costs;
  costs.peak_flops[Precision::bf16].value = 100e12;
  costs.gemm_efficiency[Precision::bf16].value = 0.5;
  return costs;
}

/// Two heads of a product, at that share of 50 TFLOP/s.
MeasuredPoint heads(const GemmShape& shape, double share) {
  Measured measured;
  measured.time = Seconds(2.0 * shape.flops() / (share * 50e12));
  return {BatchedGemmPoint{{shape, Precision::bf16, GemmLayout::nn}, 2}, measured, 0.0};
}

TEST(BatchedFit, IsTheMeanOfTheTimesOfAnAttentionsProducts) {
  // As many operations at a half and at a quarter of the rate take 2 + 4 for 2: a third.
  const auto fit =
      fitted_batched({heads({512, 512, 128}, 0.5), heads({512, 128, 512}, 0.25)}, device());
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->largest.value, 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(fit->largest.spread, 0.125 * 3.0, 1e-12);
  EXPECT_FALSE(fit->head_exponent.has_value());
}

TEST(BatchedFit, SmallerHeadsTellHowTheRateFalls) {
  // Half as large and a quarter of the rate: (1/2)^2.
  const auto fit =
      fitted_batched({heads({512, 512, 64}, 0.125), heads({512, 512, 128}, 0.5)}, device());
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->largest.value, 0.5, 1e-12);
  EXPECT_NEAR(fit->head_exponent.value(), 2.0, 1e-12);
}

TEST(BatchedFit, OfNothingIsNothing) { EXPECT_FALSE(fitted_batched({}, device()).has_value()); }

}  // namespace
}  // namespace headway
