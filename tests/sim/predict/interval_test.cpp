#include "sim/predict/interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

TEST(Interval, ASourceThatWasSeenIsKnownBetterThanOneThatWasNot) {
  for (const JobKind kind : {JobKind::dense, JobKind::experts, JobKind::fine_tuning}) {
    EXPECT_LT(known_source_error(kind), model_error(kind));
  }
}

TEST(Interval, WhatJobsShareIsKnownBetterFromSeveral) {
  // s = 0.71: of two 1.42 / 1.71. The variance 1.71 v becomes (1 + 0.71 / 1.71) v.
  EXPECT_NEAR(shared_by_jobs(JobKind::dense, 1), 0.71, 1e-12);
  EXPECT_NEAR(shared_by_jobs(JobKind::dense, 2), 1.42 / 1.71, 1e-12);
  const double by_one = std::log(anchored_interval({1.0}, JobKind::dense, 1).high);
  const double by_two = std::log(anchored_interval({1.0}, JobKind::dense, 2).high);
  EXPECT_NEAR(by_two * by_two / (by_one * by_one), (1.0 + 0.71 / 1.71) / 1.71, 1e-12);
  EXPECT_LT(std::log(anchored_interval({1.0}, JobKind::dense, 0).high), by_two);
}

TEST(Interval, ErrorsOfKernelsAndOfTheModelAddAsSquares) {
  // sqrt(0.03^2 + 0.04^2) = 0.05, 1.645 of which lie on either side.
  const Interval interval = expected_interval({2.0}, 0.03, 0.04);
  EXPECT_NEAR(std::log(interval.high / 2.0), 1.6448536 * 0.05, 1e-8);
  EXPECT_NEAR(std::log(2.0 / interval.low), 1.6448536 * 0.05, 1e-8);
}

}  // namespace
}  // namespace headway
