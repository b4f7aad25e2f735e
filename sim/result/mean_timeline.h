#pragma once

#include <vector>

#include "sim/result/timeline.h"

namespace headway {

/// The mean of runs of one workload, whose weights add up to 1: every moment is the weighted mean
/// of when it was in each, so that what lies between two moments, and with it the time by cause, is
/// the mean of what it was. What is counted is the first run's.
[[nodiscard]] Timeline mean_timeline(const std::vector<Timeline>& runs,
                                     const std::vector<double>& weights);

}  // namespace headway
