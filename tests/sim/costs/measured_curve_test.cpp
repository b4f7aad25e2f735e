#include "sim/costs/measured_curve.h"

#include <gtest/gtest.h>

#include "sim/costs/measured_collective.h"

namespace headway {
namespace {

// 5 us and 10 GB/s, measured at three sizes.
const MeasuredCurve kCurve{
    .points = {{1_MB, 105_us}, {2_MB, 205_us}, {4_MB, 405_us}}, .spread = 0.02, .source = "test"};

TEST(MeasuredCurve, APointIsExact) {
  const auto cost = curve_cost(kCurve, 2_MB);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->time, 205_us);
  EXPECT_EQ(cost->status, CostStatus::exact);
  EXPECT_EQ(cost->spread, 0.02);
}

TEST(MeasuredCurve, BetweenPointsALatencyAndABandwidthAreMetExactly) {
  const auto cost = curve_cost(kCurve, 3.5_MB);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->time.count(), 355e-6, 1e-15);
  EXPECT_EQ(cost->status, CostStatus::interpolated);
}

TEST(MeasuredCurve, SaysNothingOutsideOfItsRange) {
  EXPECT_FALSE(curve_cost(kCurve, 0.9_MB));
  EXPECT_FALSE(curve_cost(kCurve, 4.1_MB));
  EXPECT_FALSE(curve_cost(MeasuredCurve{}, 1_MB));
}

TEST(MeasuredCollective, IsFoundByItsKindAndRanks) {
  const std::vector<MeasuredCollective> measured = {
      {.kind = CollectiveKind::all_gather, .ranks = 4, .curve = {}},
      {.kind = CollectiveKind::all_gather, .ranks = 8, .curve = kCurve}};
  const auto cost = measured_collective_cost(measured, CollectiveKind::all_gather, 1_MB, 8);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->time, 105_us);
  EXPECT_FALSE(measured_collective_cost(measured, CollectiveKind::all_gather, 1_MB, 4));
  EXPECT_FALSE(measured_collective_cost(measured, CollectiveKind::all_reduce, 1_MB, 8));
  EXPECT_FALSE(measured_collective_cost(measured, CollectiveKind::all_gather, 9_MB, 8));
}

}  // namespace
}  // namespace headway
