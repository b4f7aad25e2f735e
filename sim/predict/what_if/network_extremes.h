#pragma once

#include <vector>

#include "sim/predict/job_run.h"
#include "sim/result/what_if.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What links that are shared fairly at any instant do not see, each at its worst and by the kind
/// of fabric: the median replica `run` again, with
/// - "paused_links", where no packet is lost (InfiniBand, RoCE): whole links pause, and nobody
///   sends more slowly because of it (`MaxMinShares::pause_upstream`). What congestion control
///   leaves of that lies between this and the prediction;
/// - "hash_collisions", where switches hash flows onto paths: the slowest of eight draws of their
///   functions, of which the prediction is one;
/// - "uneven_flowlets", where switches spread flowlets: links between switches carry what the
///   slowest flow of a shift was seen to get.
/// Nothing of jobs on more than `kMostPaused` accelerators, which would take too long.
[[nodiscard]] std::vector<Sensitivity> network_extremes(const Scenario& scenario, const JobRun& run,
                                                        int jobs);
inline constexpr int kMostPaused = 2048;

}  // namespace headway
