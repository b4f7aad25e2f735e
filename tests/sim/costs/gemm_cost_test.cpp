#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "tests/sim/costs/round_device.h"

namespace headway {
namespace {

double us(const Cost& cost) { return cost.time.count() * 1e6; }

Cost bf16_cost(const DeviceCosts& device, double m, double n, double k) {
  return gemm_cost(device, {m, n, k}, Precision::bf16);
}

TEST(GemmCost, AFullWaveIsWorkStartAndOverhead) {
  // 8 tiles on 8 multiprocessors: q = 1. 2 x 1024 x 256 x 100 FLOP at 50 TFLOP/s = 1.048576 us,
  // twice that as k = k0, and 10 us.
  EXPECT_NEAR(us(bf16_cost(round_device(), 1024, 256, 100)), 2 * 1.048576 + 10, 1e-9);
}

TEST(GemmCost, ALastWaveThatIsNotFullTakesAsLongAsAFullOne) {
  DeviceCosts device = round_device();
  device.gemm_inner_half.value = 0.0;
  device.gemm_overhead.value = 0.0;
  device.gemm_quantisation.value = 1.0;
  // 9 tiles take two waves, as 16 do.
  EXPECT_NEAR(us(bf16_cost(device, 9 * 128, 256, 4096)), us(bf16_cost(device, 16 * 128, 256, 4096)),
              1e-9);
}

TEST(GemmCost, QuantisationCountsWithItsWeight) {
  DeviceCosts device = round_device();
  device.gemm_inner_half.value = 0.0;
  device.gemm_overhead.value = 0.0;
  // 9 tiles in 2 waves of 8: q = 16/9, seen by half: 1 + 0.5 x 7/9 = 25/18 of the work,
  // 2 x 1152 x 256 x 4500 FLOP / 50 TFLOP/s = 53.08416 us.
  EXPECT_NEAR(us(bf16_cost(device, 1152, 256, 4500)), 53.08416 * 25 / 18, 1e-9);
}

TEST(GemmCost, QuantisationIsEightAtMost) {
  // One tile for 64 x 64 on 8 multiprocessors would be q = 8 x 128 x 64 / 4096 = 16; at most 8,
  // seen by half: 4.5. 2 x 64 x 64 x 1e6 FLOP / 50 TFLOP/s = 163.84 us, start 1 + 100/1e6.
  EXPECT_NEAR(us(bf16_cost(round_device(), 64, 64, 1e6)), 163.84 * 4.5 * 1.0001 + 10, 1e-6);
}

TEST(GemmCost, SkinnyProductsAreBoundByMemory) {
  // 2 B x (8 x 8192 + 8192 x 8192 + 8 x 8192) at 0.5 TB/s.
  const double bytes = 2.0 * (8 * 8192 + 8192.0 * 8192 + 8 * 8192);
  EXPECT_NEAR(us(bf16_cost(round_device(), 8, 8192, 8192)), bytes / 0.5e6 + 10, 1e-6);
}

TEST(GemmCost, WiderNumbersStartInLessAndHaveNarrowerTiles) {
  // fp32 at a tenth of the peak of 16 bits: k0 = 100 / 10, tiles of 128 x 64 on 8 multiprocessors.
  // 2 x 1024 x 64 x 100 FLOP at 5 TFLOP/s = 2.62144 us, a tenth of it for the start, and 10 us.
  EXPECT_NEAR(us(gemm_cost(round_device(), {1024, 64, 100}, Precision::fp32)), 1.1 * 2.62144 + 10,
              1e-9);
}

TEST(GemmCost, TilesAreNoWiderThanTheResult) {
  // 8 tiles of 128 x 64, or of 128 x 128, one for each of 8 multiprocessors: nothing is wasted.
  // 2 x 1024 x 64 x 1e5 FLOP at 50 TFLOP/s are 262.144 us, start 1 + 100 / 1e5. (No byte moves.)
  const auto cost_of = [](double columns) {
    const GemmShape shape{1024, columns, 1e5};
    return us(gemm_cost(round_device(), shape, Precision::bf16,
                        {.shared = gemm_traffic(shape, Precision::bf16)}));
  };
  EXPECT_NEAR(cost_of(64), 262.144 * 1.001 + 10, 1e-6);
  EXPECT_NEAR(cost_of(128), 524.288 * 1.001 + 10, 1e-6);
  // 129 columns take tiles of 256, of which 127 are for nothing: half of 127/129 more.
  EXPECT_NEAR(cost_of(129), 528.384 * (1 + 0.5 * 127 / 129) * 1.001 + 10, 1e-6);
}

TEST(GemmCost, ConstantsThatWereFittedHereKnowOneTileAndOneStart) {
  // q = 8 x 128 x 256 / (1024 x 64) = 4, seen by half: 2.5; twice that as k = k0.
  DeviceCosts device = round_device();
  device.gemm_table.push_back(
      {.shape = {1024, 1024, 1024}, .precision = Precision::bf16, .time = 50_us, .spread = 0.01});
  EXPECT_NEAR(us(gemm_cost(device, {1024, 64, 100}, Precision::fp32)), 5 * 2.62144 + 10, 1e-9);
}

TEST(GemmCost, WhatIsSharedDoesNotMove) {
  const double bytes = 2.0 * (8 * 8192 + 8192.0 * 8192 + 8 * 8192);
  const Bytes shared(8192.0 * 8192);
  EXPECT_NEAR(us(gemm_cost(round_device(), {8, 8192, 8192}, Precision::bf16, {.shared = shared})),
              (bytes - shared.count()) / 0.5e6 + 10, 1e-6);
}

TEST(GemmCost, ResultsAreStoredInTwoBytesOrInTheFourOfTheOperands) {
  const GemmShape shape{10, 20, 30};  // operands 300 and 600 elements, result 200
  EXPECT_EQ(gemm_traffic(shape, Precision::fp8), Bytes(900 + 2 * 200));
  EXPECT_EQ(gemm_traffic(shape, Precision::bf16), Bytes(2 * 900 + 2 * 200));
  EXPECT_EQ(gemm_traffic(shape, Precision::fp32), Bytes(4 * 900 + 4 * 200));
}

TEST(GemmCost, WhatOperandsShareIsNotReadAgain) {
  // Memory holds a ninth of 65,536 x 576 operands: with 576 x 4 others and 65,536 x 4 results at
  // half of 1 TB/s, in less time than all of them at the whole of it.
  DeviceCosts device = round_device();
  device.gemm_quantisation = device.gemm_inner_half = device.gemm_overhead = estimate(0.0);
  const GemmShape shape{65'536, 4, 576};
  const GemmOperands operands{.shared = Bytes(2 * 65'536 * (576 - 64.0))};
  EXPECT_NEAR(gemm_cost(device, shape, Precision::bf16, operands).time.count(),
              2 * (65'536 * 64 + 576 * 4 + 65'536 * 4) / 0.5e12, 1e-15);
}

TEST(GemmCost, AnEmptyProductCostsNothing) {
  EXPECT_EQ(bf16_cost(round_device(), 0, 256, 256).time, Seconds(0.0));
}

TEST(GemmCost, APrecisionThatTheDeviceLacksIsABug) {
  EXPECT_THROW((void)gemm_cost(round_device(), {1, 1, 1}, Precision::tf32), InternalError);
}

TEST(GemmCost, WithoutATableTheFormulaIsInterpolated) {
  EXPECT_EQ(bf16_cost(round_device(), 1024, 1024, 1024).status, CostStatus::interpolated);
}

TEST(GemmSpread, IsThatOfTheTermThatDecides) {
  DeviceCosts device = round_device();
  device.gemm_overhead.value = 0.0;
  device.memory_bandwidth.spread = 0.03;
  device.peak_flops[Precision::bf16].spread = 0.04;
  // Compute: efficiency 3 %, peak 4 %. Memory: bandwidth 3 %, efficiency 4 %.
  EXPECT_NEAR(bf16_cost(device, 8192, 8192, 8192).spread, 0.05, 1e-12);
  EXPECT_NEAR(bf16_cost(device, 8, 8192, 8192).spread, 0.05, 1e-12);
}

TEST(GemmSpread, CountsEachPartByItsShareOfTheTime) {
  DeviceCosts device = round_device();
  device.gemm_efficiency[Precision::bf16].spread = 0.0;
  device.gemm_overhead.spread = 0.4;
  // 2.097152 us of work known exactly and 10 us known to 40 %.
  EXPECT_NEAR(bf16_cost(device, 1024, 256, 100).spread, 0.4 * 10 / 12.097152, 1e-12);

  device.gemm_overhead.spread = 0.0;
  device.gemm_overhead.value = 0.0;
  device.gemm_inner_half.spread = 0.2;
  // Half of the time is the start, known to 20 %.
  EXPECT_NEAR(bf16_cost(device, 1024, 256, 100).spread, 0.1, 1e-12);
}

TEST(GemmCost, NoShapeBeatsTheRoofline) {
  constexpr unsigned kSeed = 20261120;
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> log_size(0.0, 15.0);
  DeviceCosts device = round_device();
  const auto size = [&] { return std::floor(std::exp2(log_size(random))); };
  for (int i = 0; i < 200; ++i) {  // a table that claims the impossible
    device.gemm_table.push_back({.shape = {size(), size(), size()}, .time = 1_ns, .spread = 0.01});
  }
  for (int i = 0; i < 2000; ++i) {
    const GemmShape shape = i % 2 == 0 ? GemmShape{size(), size(), size()}
                                       : device.gemm_table[static_cast<std::size_t>(i % 200)].shape;
    const Cost cost = gemm_cost(device, shape, Precision::bf16);
    EXPECT_GE(cost.time, roofline_bound(device, Flops(shape.flops()), Precision::bf16,
                                        gemm_traffic(shape, Precision::bf16)))
        << "seed " << kSeed << ": " << shape.m << " " << shape.n << " " << shape.k;
  }
}

class GemmTable : public testing::Test {
 protected:
  /// A measurement that took `factor` times what the formula says.
  void measure(const GemmShape& shape, double factor, double spread = 0.02) {
    const Seconds formula = gemm_cost(round_device(), shape, Precision::bf16).time;
    device_.gemm_table.push_back(
        {.shape = shape, .precision = Precision::bf16, .time = factor * formula, .spread = spread});
  }
  /// The table's cost over the formula's.
  [[nodiscard]] double factor_at(const GemmShape& shape) const {
    return gemm_cost(device_, shape, Precision::bf16).time /
           gemm_cost(round_device(), shape, Precision::bf16).time;
  }
  [[nodiscard]] CostStatus status_at(const GemmShape& shape) const {
    return gemm_cost(device_, shape, Precision::bf16).status;
  }

  DeviceCosts device_ = round_device();
};

TEST_F(GemmTable, AMeasuredShapeIsReturnedAsMeasured) {
  measure({1024, 1024, 1024}, 1.7, 0.02);
  const Cost cost = gemm_cost(device_, {1024, 1024, 1024}, Precision::bf16);
  EXPECT_EQ(cost.time, device_.gemm_table[0].time);
  EXPECT_EQ(cost.status, CostStatus::exact);
  EXPECT_EQ(cost.spread, 0.02);
}

TEST_F(GemmTable, AShapeBetweenTwoTakesTheGeometricMeanOfTheirFactors) {
  measure({1024, 1024, 1024}, 1.5);
  measure({4096, 4096, 4096}, 6.0);
  // Equally far from both in the logarithm: sqrt(1.5 x 6) = 3.
  EXPECT_NEAR(factor_at({2048, 2048, 2048}), 3.0, 1e-9);
  EXPECT_EQ(status_at({2048, 2048, 2048}), CostStatus::interpolated);
  // The two disagree by a factor of 2 from their mean: sqrt(ln(2)^2 + 0.02^2).
  EXPECT_NEAR(gemm_cost(device_, {2048, 2048, 2048}, Precision::bf16).spread,
              std::hypot(std::log(2.0), 0.02), 1e-9);
}

TEST_F(GemmTable, AThirdOfTheWayIsAThirdOfTheFactorsLogarithm) {
  measure({1024, 1024, 1024}, 1.0);
  measure({8192, 1024, 1024}, 16.0);
  // With a = ln 2: neighbours at -a and 2a, weights 4/5 and 1/5, logarithms 0 and ln 16. Their mean
  // place is -2a/5, the mean of its square 8a^2/5, to which the slope's penalty p is added:
  //   ln 16 / 5 * (8a^2/5 + p + 4a^2/5) / (8a^2/5 + p - 4a^2/25),
  // without a penalty ln 16 / 3.
  const double a2 = std::log(2.0) * std::log(2.0);
  const double penalty = 0.003;
  const double log_factor = std::log(16.0) / 5.0 * (2.4 * a2 + penalty) / (1.44 * a2 + penalty);
  EXPECT_NEAR(std::log(factor_at({2048, 1024, 1024})), log_factor, 1e-9);
  EXPECT_NEAR(log_factor / std::log(16.0), 1.0 / 3.0, 0.001);
}

/// Tiles and waves are those of m and n: a product of the same m and n and twice the k says more
/// than one of twice the m.
TEST_F(GemmTable, AnotherInnerSizeIsNearerThanAnotherNumberOfRows) {
  // Equally far but for that: 0.3 of the distance, 100/9 of the weight, on a slope of its own.
  measure({1024, 1024, 1024}, 2.0);
  measure({1024, 1024, 4096}, 2.0);
  measure({512, 1024, 2048}, 1.0);
  measure({2048, 1024, 2048}, 1.0);
  // Slopes are 0 by symmetry: weights 2 x 100/9 and 2 x 1.
  EXPECT_NEAR(std::log(factor_at({1024, 1024, 2048})),
              std::log(2.0) * (100.0 / 9.0) / (109.0 / 9.0), 1e-9);
}

TEST_F(GemmTable, AShapeDiffersNoMoreThanThoseAroundIt) {
  // The plane through the three goes on to 4.
  measure({1024, 2048, 1024}, 2.0);
  measure({2048, 1024, 1024}, 2.0);
  measure({2048, 2048, 1024}, 1.0);
  EXPECT_NEAR(factor_at({1024, 1024, 1024}), 2.0, 1e-9);
}

TEST_F(GemmTable, BelowTheMeasuredRangeTheFormulaIsExtrapolated) {
  measure({1024, 1024, 1024}, 2.0);
  measure({4096, 4096, 4096}, 2.0);
  for (const GemmShape& shape : {GemmShape{2048, 512, 2048}, GemmShape{8192, 512, 2048}}) {
    EXPECT_NEAR(factor_at(shape), 1.0, 1e-12);
    EXPECT_EQ(status_at(shape), CostStatus::extrapolated);
  }
}

TEST_F(GemmTable, LargerProductsDifferFromTheFormulaAsTheLargestMeasured) {
  measure({1024, 1024, 1024}, 2.0);
  measure({4096, 4096, 4096}, 3.0);
  for (const GemmShape& shape : {GemmShape{128256, 4096, 4096}, GemmShape{8192, 28672, 65536}}) {
    EXPECT_NEAR(factor_at(shape), 3.0, 1e-12);
    EXPECT_EQ(status_at(shape), CostStatus::extrapolated);
  }
}

TEST_F(GemmTable, FarFromAllMeasuredShapesTheFormulaIsExtrapolated) {
  measure({128, 128, 128}, 2.0);
  measure({16384, 16384, 16384}, 2.0);
  EXPECT_EQ(status_at({1024, 1024, 1024}), CostStatus::extrapolated);
  EXPECT_EQ(status_at({200, 200, 200}), CostStatus::interpolated);
}

TEST_F(GemmTable, OtherPrecisionsAreNotTouched) {
  measure({1024, 1024, 1024}, 2.0);
  const Cost cost = gemm_cost(device_, {1024, 1024, 1024}, Precision::fp8);
  EXPECT_EQ(cost.time, gemm_cost(round_device(), {1024, 1024, 1024}, Precision::fp8).time);
  EXPECT_EQ(cost.status, CostStatus::interpolated);
}

}  // namespace
}  // namespace headway
