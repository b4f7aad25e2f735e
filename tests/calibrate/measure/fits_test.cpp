#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "calibrate/measure/linear_fit.h"
#include "calibrate/measure/segment_fit.h"
#include "calibrate/measure/shuffled_order.h"
#include "calibrate/measure/statistics.h"

namespace headway {
namespace {

TEST(LinearFit, FindsTheLawOfExactObservations) {
  // t = 3 + 2 x
  std::vector<Observation> observations;
  for (const double x : {1.0, 2.0, 10.0}) observations.push_back({{1.0, x}, 3.0 + 2.0 * x});
  const auto line = non_negative_fit(observations);
  EXPECT_NEAR(line[0], 3.0, 1e-9);
  EXPECT_NEAR(line[1], 2.0, 1e-9);
}

TEST(LinearFit, KeepsCoefficientsFromBelowZero) {
  // t = x - 0.5 would need a negative constant; the best non-negative one has none:
  // c = sum(x/t) / sum((x/t)^2), x/t = 2, 4/3 -> (10/3) / (52/9) = 15/26
  const auto line = non_negative_fit({{{1.0, 1.0}, 0.5}, {{1.0, 2.0}, 1.5}});
  EXPECT_EQ(line[0], 0.0);
  EXPECT_NEAR(line[1], 15.0 / 26.0, 1e-12);
}

TEST(LinearFit, WeighsSmallAndLargeTimesAlike) {
  // A constant to 1 and 2 in relative errors: (1 + 1/2) / (1 + 1/4) = 1.2, not their mean.
  EXPECT_NEAR(non_negative_fit({{{1.0}, 1.0}, {{1.0}, 2.0}})[0], 1.2, 1e-12);
}

TEST(LinearFit, LeavesOutWhatTheObservationsCannotTellApart) {
  const auto fit = non_negative_fit({{{1.0, 2.0}, 4.0}, {{2.0, 4.0}, 8.0}});
  EXPECT_NEAR(fitted_value(fit, {3.0, 6.0}), 12.0, 1e-9);
}

/// 5 us + bytes / 10 GB/s below 64 KiB; 25 us + bytes / 40 GB/s from there on.
Seconds two_regimes(double bytes) {
  return Seconds(bytes < 65536 ? 5e-6 + bytes / 10e9 : 25e-6 + bytes / 40e9);
}

std::vector<double> sizes() {
  std::vector<double> all;
  for (double size = 1024; size <= 64.0 * 1024 * 1024; size *= 2) {
    all.push_back(size);
    all.push_back(size * 1.5);
  }
  return all;
}

/// Medians of `samples` measurements with lognormal noise of 5 %.
std::vector<SizedTime> noisy_points(std::uint64_t seed, int samples) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> noise(0.0, 0.05);
  std::vector<SizedTime> points;
  for (const double size : sizes()) {
    std::vector<double> times;
    for (int i = 0; i < samples; ++i) times.push_back(two_regimes(size).count() * noise(random));
    points.push_back({Bytes(size), Seconds(median(times))});
  }
  return points;
}

TEST(SegmentFit, OneLineNeedsOneSegment) {
  std::vector<SizedTime> points;
  for (const double size : sizes()) points.push_back({Bytes(size), Seconds(1e-5 + size / 1e9)});
  const SegmentFit fit = fitted_segments(points);
  ASSERT_EQ(fit.segments.size(), 1U);
  EXPECT_NEAR(fit.segments[0].latency.count(), 1e-5, 1e-11);
  EXPECT_NEAR(fit.segments[0].bandwidth.count(), 1e9, 1e3);
  EXPECT_LT(fit.residual.most, 1e-9);
}

TEST(SegmentFit, FindsTheBreakpointAndBothRegimesExactlyWithoutNoise) {
  std::vector<SizedTime> points;
  for (const double size : sizes()) points.push_back({Bytes(size), two_regimes(size)});
  const SegmentFit fit = fitted_segments(points);
  ASSERT_EQ(fit.segments.size(), 2U);
  EXPECT_EQ(fit.segments[1].from, 64_KiB);
  EXPECT_NEAR(fit.segments[0].latency.count(), 5e-6, 1e-11);
  EXPECT_NEAR(fit.segments[1].latency.count(), 25e-6, 1e-11);
  EXPECT_NEAR(fit.segments[1].bandwidth.count(), 40e9, 1e4);
}

TEST(SegmentFit, RecoversKnownParametersWithinTwoPercentFromNoisySamples) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SegmentFit fit = fitted_segments(noisy_points(seed, 99));
    ASSERT_EQ(fit.segments.size(), 2U) << seed;
    // The regimes differ by 3 us of 14 at the breakpoint, so it is found to the next point.
    EXPECT_GE(fit.segments[1].from, 48_KiB) << seed;
    EXPECT_LE(fit.segments[1].from, 96_KiB) << seed;
    EXPECT_NEAR(fit.segments[0].latency.count() / 5e-6, 1.0, 0.02) << seed;
    EXPECT_NEAR(fit.segments[1].bandwidth.count() / 40e9, 1.0, 0.02) << seed;
  }
}

TEST(SegmentFit, HeldOutErrorTellsTheTrueErrorOfTheFit) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<SizedTime> points = noisy_points(seed, 99);
    const auto held_out = held_out_error(points);
    ASSERT_TRUE(held_out.has_value());
    // Held-out points carry their own noise: a median of 99 samples of 5 % has a sigma of
    // 5 % * 1.2533 / sqrt(99) = 0.63 %, so its median absolute error alone is 0.43 %.
    EXPECT_GT(held_out->median, 0.0043 / 1.5 / 1.5) << seed;
    EXPECT_LT(held_out->median, 0.0043 * 1.5 * 1.5) << seed;
  }
}

TEST(SegmentFit, NeverGetsFasterWithSize) {
  const SegmentFit fit{{{1_KiB, 10.0_us, 1_GBps}, {64_KiB, 5.0_us, 10_GBps}}, {}};
  // The first segment ends at 10 us + 65.536 us; the second would start at 11.6 us.
  EXPECT_DOUBLE_EQ(segment_time(fit, 65536_B).count(), 75.536e-6);
  EXPECT_DOUBLE_EQ(segment_time(fit, 100_B).count(), 10.1e-6);
  EXPECT_DOUBLE_EQ(segment_time(fit, 10_MB).count(), 1005e-6);
}

TEST(SegmentFit, TwoPointsMakeOneSegment) {
  EXPECT_EQ(fitted_segments({{1_KB, 1.0_us}, {2_KB, 2.0_us}}).segments.size(), 1U);
}

TEST(HeldOutError, NeedsEnoughPoints) {
  EXPECT_FALSE(held_out_error({{1_KB, 1.0_us}, {2_KB, 2.0_us}}).has_value());
}

TEST(ShuffledOrder, HoldsEveryNumberOnceAndDependsOnTheSeedOnly) {
  const auto order = shuffled_order(100, 7);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 100U);
  EXPECT_EQ(order, shuffled_order(100, 7));
  EXPECT_NE(order, shuffled_order(100, 8));
  EXPECT_TRUE(shuffled_order(0, 1).empty());
}

}  // namespace
}  // namespace headway
