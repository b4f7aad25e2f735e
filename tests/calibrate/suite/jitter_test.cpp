#include "calibrate/suite/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/measure/statistics.h"
#include "calibrate/suite/fake_backend.h"

namespace headway {
namespace {

TEST(Jitter, FindsTheNoiseThatWasPutIn) {
  FakeBackend backend({.noise = 0.05, .contaminated = 0.0}, 1, {});
  const JitterRun run = measured_jitter(backend, 2.0_s);
  // 4096 x 2048 x 2048 at 1e14 FLOP/s: some 0.37 ms, so thousands of samples.
  EXPECT_EQ(run.product.shape.m, 4096.0);
  EXPECT_EQ(run.product.shape.n, 2048.0);
  EXPECT_GE(run.time, 2.0_s);
  EXPECT_GT(run.over_median.size(), 4000U);
  EXPECT_TRUE(std::is_sorted(run.over_median.begin(), run.over_median.end()));
  EXPECT_NEAR(1.4826 * median_absolute_deviation(run.over_median), 0.05, 0.003);
  EXPECT_NEAR(run.lag_one, 0.0, 0.05);
  EXPECT_EQ(run.contaminated, 0);
}

TEST(Jitter, KeepsWhatWasDisturbedAndCountsIt) {
  FakeBackend backend({.noise = 0.0, .contaminated = 0.1}, 1, {});
  const JitterRun run = measured_jitter(backend, 1.0_s);
  EXPECT_GT(run.contaminated, 0);
  EXPECT_NEAR(run.over_median.back(), 3.0, 1e-9);  // the fake's disturbed samples take three times
  EXPECT_NE(jitter_text(run).find("p99.9 3.000"), std::string::npos) << jitter_text(run);
}

}  // namespace
}  // namespace headway
