#include "sim/predict/staleness/bounded_staleness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

TEST(BoundedStaleness, AlikeWorkersNeverWait) {
  EXPECT_NEAR(idle_share({.workers = 100, .bound = 0}), 0.0, 1e-12);
}

TEST(BoundedStaleness, OneWorkerNeverWaits) {
  EXPECT_NEAR(idle_share({.workers = 1, .bound = 0, .jitter = {.spread = 0.5}}), 0.0, 1e-12);
}

// Two workers in step, each step 1 + an exponential of mean 1: the longer of two takes
// 1 + 1 + 1/2 = 2.5 on average, of which each works 2.
TEST(BoundedStaleness, WorkersInStepWaitForTheSlowest) {
  const Jitter jitter{.kind = Jitter::Kind::exponential, .spread = 1.0};
  EXPECT_NEAR(idle_share({.workers = 2, .jitter = jitter}), 1.0 - 2.0 / 2.5, 0.03);
}

// Li et al. 2014 (OSDI), figure 13: workers in step wait half of the time, those that may be 16
// steps ahead hardly ever.
TEST(BoundedStaleness, FallsWithTheBound) {
  double before = 1.0;
  for (const int bound : {0, 1, 2, 4, 8, 16}) {
    const double idle = idle_share({.workers = 800, .bound = bound, .jitter = {.spread = 0.23}});
    EXPECT_LT(idle, before) << bound;
    before = idle;
  }
  EXPECT_LT(before, 0.05);
}

}  // namespace
}  // namespace headway
