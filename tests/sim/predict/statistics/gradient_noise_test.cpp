#include "sim/predict/statistics/gradient_noise.h"

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

}  // namespace
}  // namespace headway
