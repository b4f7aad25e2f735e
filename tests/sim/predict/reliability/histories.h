#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/predict/reliability/job_history.h"

namespace headway {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// With a checkpoint after every hour of training.
inline JobHistory run(const ReliabilitySettings& settings, double work, double horizon = kForever) {
  return job_history(settings, 3600_s, work, horizon, 1);
}

inline void expect_parts_add_up(const JobHistory& history) {
  EXPECT_NEAR(history.productive + history.checkpoints + history.lost_work + history.detection +
                  history.restart + history.waiting,
              history.wall, 1e-9 * history.wall);
}

/// Expected wall time for each second of useful work, equation 20 of Daly 2006, "A higher order
/// estimate of the optimum checkpoint interval for restart dumps": M exp(R/M)
/// (exp((t + c) / M) - 1) / t, exact for memoryless failures that may also strike during the
/// recovery R. Infinite failures apart it is what a simulated history has on average.
inline double expected_stretch(Seconds interval, Seconds cost, Seconds recovery, Seconds mttf) {
  return mttf / interval * std::exp(recovery / mttf) * std::expm1((interval + cost) / mttf);
}

/// Kokolis et al. 2025, "Revisiting Reliability in Large-Scale Machine Learning Research Clusters"
/// (arXiv:2410.21680): expected share of productive time, (1 - rate (u0 + t / 2)) / (1 + c / t)
/// with `rate` failures of the job a second and u0 the time to be back. First order in rate (u0 +
/// t / 2).
inline double first_order_ettr(Seconds interval, Seconds cost, Seconds recovery, Seconds mttf) {
  return (1.0 - (recovery + 0.5 * interval) / mttf) / (1.0 + cost / interval);
}

}  // namespace headway
