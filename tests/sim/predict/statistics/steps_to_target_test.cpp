#include "sim/predict/statistics/steps_to_target.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(GradientNoise, WithoutNoiseNoBatchSavesSteps) { EXPECT_EQ(steps_ratio(0.0, 32.0, 64.0), 1.0); }

// (1 + 1000/400) / (1 + 1000/100) = 3.5 / 11.
TEST(GradientNoise, StepsFallWithTheBatch) {
  EXPECT_DOUBLE_EQ(steps_ratio(1000.0, 100.0, 400.0), 3.5 / 11.0);
}

// Far below the noise scale twice the batch is half the steps; far above it saves nothing.
TEST(GradientNoise, HasTwoEnds) {
  EXPECT_NEAR(steps_ratio(1e9, 1.0, 2.0), 0.5, 1e-6);
  EXPECT_NEAR(steps_ratio(1.0, 1e9, 2e9), 1.0, 1e-6);
}

/// A run that took 11,000 steps of 100 samples, with a noise scale of 1,000: 1,000 steps without
/// noise.
constexpr StatisticsSettings kRun{.steps = 11000.0, .batch = 100.0, .noise_scale = 1000.0};

TEST(StepsToTarget, FollowTheLawOfGradientNoise) {
  // 1000 (1 + 1000 / 500) = 3000 steps of 500; small batches would take 1000 x 1000 samples.
  const StepsToTarget to = steps_to_target(kRun, {.batch = 500.0, .accelerators = 8.0});
  EXPECT_DOUBLE_EQ(to.steps, 3000.0);
  EXPECT_DOUBLE_EQ(to.steps, 11000.0 * steps_ratio(1000.0, 100.0, 500.0));
  EXPECT_DOUBLE_EQ(to.samples, 1.5e6);
  EXPECT_DOUBLE_EQ(to.efficiency, 1e6 / 1.5e6);
}

TEST(StepsToTarget, ADoublingPaysUpToTheNoiseScale) {
  // 1 + 2 becomes 1 + 1.
  const StepsToTarget below = steps_to_target(kRun, {.batch = 500.0, .accelerators = 8.0});
  EXPECT_DOUBLE_EQ(below.doubling_saves, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(below.pays_up_to, 16.0);
  // There, at a batch of 1,000, it is 2 to 1.5.
  EXPECT_DOUBLE_EQ(steps_to_target(kRun, {.batch = 1000.0}).doubling_saves, 0.25);
}

TEST(StepsToTarget, AsynchronousWorkersAreWorthOneBatchOfAll) {
  // Four that update with 125 samples each, stale by three: 1000 ((1 + 3) + 1000 / 125) updates,
  // four an iteration.
  const StepsToTarget to =
      steps_to_target(kRun, {.batch = 500.0, .updates = 4.0, .staleness = 3.0});
  EXPECT_DOUBLE_EQ(to.steps, 3000.0);
  // Without staleness they would be better than it.
  EXPECT_DOUBLE_EQ(steps_to_target(kRun, {.batch = 500.0, .updates = 4.0}).steps, 2250.0);
}

TEST(StepsToTarget, APenaltyIsOnAllSteps) {
  StatisticsSettings settings = kRun;
  settings.penalty = 1.1;
  EXPECT_DOUBLE_EQ(steps_to_target(settings, {.batch = 500.0}).steps, 3300.0);
}

}  // namespace
}  // namespace headway
