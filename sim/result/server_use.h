#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// What parameter servers did in an iteration, and what their workers waited for.
struct ServerUse {
  std::int64_t servers = 0;
  std::int64_t workers = 0;
  double idle_share = 0.0;        ///< of the workers' time, in which they do not compute
  std::string hottest;            ///< the server that is at work for the longest time
  double hottest_busy = 0.0;      ///< share of the iteration
  double dropped_share = 0.0;     ///< of pushes, which came too late
  double mean_staleness = 0.0;    ///< updates between a worker's read and its own update
  std::vector<double> staleness;  ///< shares of updates: element i of those stale by i
};

/// Requires a workload with servers.
[[nodiscard]] ServerUse server_use(const Workload& workload, const Timeline& timeline);

}  // namespace headway
