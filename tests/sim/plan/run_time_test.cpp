#include "sim/plan/run_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// 90 % of predictions within a factor of 1.2.
constexpr Seconds kLow(2.0 / 1.2);
constexpr Seconds kHigh(2.0 * 1.2);

TEST(RunTime, WithoutFailuresIsAsUncertainAsItsIterations) {
  // 100 iterations of 2 s: half of them are through after 200 s, 95 % after 240 s, 5 % after 200 /
  // 1.2 s.
  const RunTime time({200.0}, kLow, kHigh);
  EXPECT_NEAR(time.at(0.5).count(), 200.0, 1e-9);
  EXPECT_NEAR(time.at(0.95).count(), 240.0, 1e-9);
  EXPECT_NEAR(time.at(0.05).count(), 200.0 / 1.2, 1e-9);
  EXPECT_NEAR(time.probability(Seconds(240.0)), 0.95, 1e-12);
}

TEST(RunTime, IsTheMeanOverItsHistories) {
  // By 240 s the history of 200 s is through in 95 % of cases, that of 240 s in 50 %, that of 288 s
  // in 5 %: ln(240 / 288) = -ln 1.2.
  const RunTime time({200.0, 240.0, 288.0}, kLow, kHigh);
  EXPECT_NEAR(time.probability(Seconds(240.0)), 0.5, 1e-12);
  EXPECT_NEAR(time.at(0.5).count(), 240.0, 1e-9);
}

TEST(RunTime, ProbabilityAndTimeAreInversesOfEachOther) {
  const RunTime time({150.0, 210.0, 220.0, 500.0}, kLow, kHigh);
  for (const double p : {0.01, 0.3, 0.5, 0.9, 0.99}) {
    EXPECT_NEAR(time.probability(time.at(p)), p, 1e-9) << p;
  }
}

TEST(RunTime, HistoriesThatNeverEndAreNeverInTime) {
  const RunTime time({200.0, kNever}, kLow, kHigh);
  EXPECT_NEAR(time.probability(Seconds(1e12)), 0.5, 1e-12);
  EXPECT_EQ(time.at(0.6).count(), kNever);
  // Half of the histories have to be through in 80 % of cases for 40 % of all.
  EXPECT_NEAR(time.probability(time.at(0.4)), 0.4, 1e-9);
}

TEST(RunTime, WhereNothingIsUncertainTheHistoriesDecide) {
  const RunTime time({100.0, 200.0}, 2.0_s, 2.0_s);
  EXPECT_EQ(time.probability(Seconds(150.0)), 0.5);
  EXPECT_NEAR(time.at(0.9).count(), 200.0, 1e-9);
}

}  // namespace
}  // namespace headway
