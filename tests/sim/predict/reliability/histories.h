#pragma once

#include <gtest/gtest.h>

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

}  // namespace headway
