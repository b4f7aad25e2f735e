#include "sim/predict/reliability/checkpoint_interval.h"

#include <gtest/gtest.h>

#include <boost/math/tools/minima.hpp>

#include "tests/sim/predict/reliability/histories.h"

namespace headway {
namespace {

TEST(CheckpointInterval, YoungAndDalyByHand) {
  // sqrt(2 x 60 s x 86,400 s) = 3219.938 s; c / 2M = 60 / 172,800 = 3.4722e-4, its root 0.0186339:
  // 3219.938 (1 + 0.00621130 + 0.00003858) - 60 = 3180.062 s.
  EXPECT_NEAR(young_interval(60_s, 86400_s).count(), 3219.938, 1e-3);
  EXPECT_NEAR(daly_interval(60_s, 86400_s).count(), 3180.062, 1e-3);
}

TEST(CheckpointInterval, DalyGivesUpWhereACheckpointTakesTwiceTheTimeBetweenFailures) {
  EXPECT_EQ(daly_interval(200_s, 100_s), 100_s);
  EXPECT_EQ(daly_interval(500_s, 100_s), 100_s);
}

/// The interval of least expected time, by Brent's method.
double best_interval(Seconds cost, Seconds recovery, Seconds mttf) {
  const double around = young_interval(cost, mttf).count();
  const auto stretch = [&](double interval) {
    return expected_stretch(Seconds(interval), cost, recovery, mttf);
  };
  return boost::math::tools::brent_find_minima(stretch, around / 10.0, around * 10.0, 40).first;
}

TEST(CheckpointInterval, BothAreWithinTwoPercentOfTheBestAtSmallWaste) {
  // Young leaves out terms of the order sqrt(c / 2M), which is the waste: 1.6 % at c / M = 5e-4.
  for (const double ratio : {1e-6, 1e-5, 1e-4, 5e-4}) {
    const Seconds mttf = 36000_s;
    const Seconds cost = ratio * mttf;
    const double best = best_interval(cost, 600_s, mttf);
    EXPECT_NEAR(young_interval(cost, mttf).count() / best, 1.0, 0.02) << ratio;
    EXPECT_NEAR(daly_interval(cost, mttf).count() / best, 1.0, 0.0005) << ratio;
  }
}

TEST(CheckpointInterval, DalyHoldsWhereYoungDoesNot) {
  const double best = best_interval(3600_s, 600_s, 36000_s);  // c / M = 0.1
  EXPECT_NEAR(daly_interval(3600_s, 36000_s).count() / best, 1.0, 0.01);
  EXPECT_GT(young_interval(3600_s, 36000_s).count() / best, 1.1);
}

TEST(CheckpointInterval, StretchAndEttrByHand) {
  // M = 1000, t = 100, c = 10, R = 50: 10 exp(0.05) (exp(0.11) - 1) = 10 x 1.0512711 x 0.1162781 =
  // 1.2223975.
  EXPECT_NEAR(expected_stretch(100_s, 10_s, 50_s, 1000_s), 1.2223975, 1e-6);
  // (1 - (50 + 50) / 1000) / (1 + 10 / 100) = 0.9 / 1.1.
  EXPECT_NEAR(first_order_ettr(100_s, 10_s, 50_s, 1000_s), 0.9 / 1.1, 1e-12);
}

}  // namespace
}  // namespace headway
