#include "calibrate/measure/stop_rule.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

PassSamples pass(std::initializer_list<double> times) {
  PassSamples samples;
  for (const double time : times) samples.add({Seconds(time)});
  return samples;
}

TEST(StopRule, StopsOnceTheMedianIsKnown) {
  const StopRule rule{.least = 11, .interval = 0.01, .budget = 1000.0_s};
  PassSamples samples;
  for (int i = 0; i < 10; ++i) samples.add({1.0_s});
  EXPECT_FALSE(samples.is_settled(rule));  // equal, but only ten
  samples.add({1.0_s});
  EXPECT_TRUE(samples.is_settled(rule));
}

TEST(StopRule, GoesOnWhileTheIntervalIsWide) {
  // 0 .. 10: the interval is 80 % of the median
  const StopRule rule{.budget = 1000.0_s};
  EXPECT_FALSE(pass({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).is_settled(rule));
}

TEST(StopRule, GivesUpWhenTheBudgetIsSpentButNotBeforeThreeSamples) {
  const StopRule rule{.budget = 1.0_s};
  EXPECT_FALSE(pass({5, 5}).is_settled(rule));
  EXPECT_TRUE(pass({5, 5, 5}).is_settled(rule));
}

TEST(PassSamples, WhatASampleCostsBesidesCountsAgainstTheBudget) {
  const StopRule rule{.budget = 1.0_s};
  PassSamples samples;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(samples.is_settled(rule));
    samples.add({Seconds(0.05 + 0.001 * i), false, 0.2_s});
  }
  EXPECT_TRUE(samples.is_settled(rule));
  EXPECT_NEAR(samples.times().front(), 0.05, 1e-15);
}

TEST(StopRule, GivesUpAtTheLargestCountEvenIfAllAreContaminated) {
  const StopRule rule{.most = 4, .budget = 1000.0_s};
  PassSamples samples;
  for (int i = 0; i < 4; ++i) samples.add({.time = 1.0_s, .contaminated = true});
  EXPECT_TRUE(samples.is_settled(rule));
  EXPECT_EQ(samples.contaminated(), 4);
  EXPECT_EQ(samples.times().size(), 4U);  // a poor time is better than none
}

TEST(Measured, LeavesContaminatedSamplesOutAndCountsThem) {
  PassSamples samples = pass({1, 1, 1});
  samples.add({.time = 50.0_s, .contaminated = true});
  const Measured measured = combined({samples});
  EXPECT_EQ(measured.time, 1.0_s);
  EXPECT_EQ(measured.samples, 4);
  EXPECT_EQ(measured.contaminated, 1);
  EXPECT_EQ(measured.spread(), 0.0);
}

TEST(Measured, TakesTheMedianOverPassesSoThatOneBadPassDoesNotMoveIt) {
  // Pass medians 10, 11, 30: time 11; spread between passes (30 - 10) / 2 / 11
  const Measured measured = combined({pass({10, 10, 10}), pass({11, 11, 11}), pass({30, 30, 30})});
  EXPECT_EQ(measured.time, 11.0_s);
  EXPECT_DOUBLE_EQ(measured.pass_spread, 10.0 / 11.0);
  EXPECT_DOUBLE_EQ(measured.spread(), 10.0 / 11.0);
}

TEST(Measured, SkipsPassesWithoutASampleAndNeedsOne) {
  EXPECT_EQ(combined({PassSamples(), pass({2, 2, 2})}).time, 2.0_s);
  EXPECT_THROW((void)combined({PassSamples()}), InternalError);
}

}  // namespace
}  // namespace headway
