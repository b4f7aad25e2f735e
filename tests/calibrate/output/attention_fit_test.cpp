#include "calibrate/output/attention_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

/// Large products reach 50 TFLOP/s, and passes 0.5 TB/s.
DeviceCosts device() {
  DeviceCosts costs;
  costs.peak_flops[Precision::bf16].value = 100e12;
  costs.gemm_efficiency[Precision::bf16].value = 0.5;
  costs.memory_bandwidth.value = 1e12;
  costs.memory_efficiency.value = 0.5;
  return costs;
}

MeasuredPoint heads(const GemmShape& shape, double seconds) {
  Measured measured;
  measured.time = Seconds(seconds);
  return {BatchedGemmPoint{{shape, Precision::bf16, GemmLayout::nn}, 2}, measured, 0.0};
}

/// Two heads of a product, multiplying at that share of 50 TFLOP/s while they move their 2 x (512 x
/// 512 + 2 x 512 x d) numbers of two bytes.
MeasuredPoint heads_at(const GemmShape& shape, double share) {
  const double multiplying = 2.0 * shape.flops() / (share * 50e12);
  const double moving =
      2.0 * 2.0 * (512.0 * 512.0 + 2.0 * 512.0 * std::min(shape.n, shape.k)) / 0.5e12;
  return heads(shape, std::cbrt(std::pow(multiplying, 3) + std::pow(moving, 3)));
}

TEST(BatchedFit, IsTheRateAtWhichProductsMultiplyWhileScoresMove) {
  const auto fit =
      fitted_batched({heads_at({512, 512, 128}, 0.25), heads_at({512, 128, 512}, 0.25)}, device());
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->largest.value, 0.25, 1e-12);
  EXPECT_NEAR(fit->largest.spread, 0.0, 1e-12);
  EXPECT_FALSE(fit->head_exponent.has_value());
}

TEST(BatchedFit, IsThatOfAllProductsOfAnAttentionAndAsUncertainAsTheyDiffer) {
  const MeasuredPoint slow = heads_at({512, 512, 128}, 0.25);
  const MeasuredPoint fast = heads_at({512, 128, 512}, 0.3);
  const auto fit = fitted_batched({slow, fast}, device());
  ASSERT_TRUE(fit.has_value());
  const auto alike = heads_at({512, 512, 128}, fit->largest.value).measured.time;
  EXPECT_NEAR(2.0 * alike.count(), (slow.measured.time + fast.measured.time).count(), 1e-15);
  EXPECT_NEAR(fit->largest.spread, alike / fast.measured.time - 1.0, 1e-9);
}

TEST(BatchedFit, SmallerHeadsTellHowTheRateFalls) {
  // Half as large and a quarter of the rate: (1/2)^2.
  const auto fit =
      fitted_batched({heads_at({512, 512, 64}, 0.125), heads_at({512, 512, 128}, 0.5)}, device());
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->largest.value, 0.5, 1e-12);
  EXPECT_NEAR(fit->head_exponent.value(), 2.0, 1e-12);
}

TEST(BatchedFit, ProductsAsFastAsTheirScoresMoveTellNothing) {
  // 2 x 2 x (512^2 + 2 x 512 x 128) B at 0.5 TB/s: 3.1 us.
  EXPECT_FALSE(fitted_batched({heads({512, 512, 128}, 3.1e-6)}, device()).has_value());
  EXPECT_TRUE(fitted_batched({heads({512, 512, 128}, 3.2e-6)}, device()).has_value());
}

TEST(BatchedFit, OfNothingIsNothing) { EXPECT_FALSE(fitted_batched({}, device()).has_value()); }

}  // namespace
}  // namespace headway
