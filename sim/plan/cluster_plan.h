#pragma once

#include <string>
#include <vector>

#include "sim/plan/cluster_size.h"

namespace headway {

/// What would do where nothing meets the goal, each alone, on the smallest cluster that meets a
/// deadline later by as little as possible, in steps of a quarter. Where failures count the tokens
/// are an estimate.
struct NearestChange {
  std::int64_t accelerators = 0;
  Seconds deadline;          ///< instead of the goal's
  double tokens = 0.0;       ///< instead of the goal's
  double probability = 0.0;  ///< instead of the goal's
};

/// The smallest, or cheapest, cluster that meets a goal.
struct ClusterPlan {
  std::string model;
  std::string cluster;
  TrainingGoal goal;
  bool counts_failures = false;          ///< the scenario has a "reliability"
  Bytes capacity;                        ///< of an accelerator
  std::vector<ClusterSize> sizes;        ///< all that were judged, fewest nodes first
  std::optional<std::size_t> answer;     ///< index of the size
  std::optional<NearestChange> nearest;  ///< nothing meets the goal, but something runs

  [[nodiscard]] const ClusterSize* found() const { return answer ? &sizes[*answer] : nullptr; }
  /// Of those below the answer the fastest by the closed form; nullptr if nothing can run on any.
  [[nodiscard]] const ClusterSize* closest_smaller() const;
};

/// Searches the number of nodes, with the best strategy for each, among those between what the peak
/// of the accelerators would need and eight times as many as peak and memory ask for.
///
/// Every size is judged by the closed form; where that says, multiplied with the least factor that
/// simulation, failures and the goal's probability have come to so far, that the deadline is
/// missed, the size is not simulated. The first in time is the answer once the next smaller one
/// that can run, simulated too, is too slow. For the cheapest, prices are judged in the same way.
/// Some larger ones are simulated as well, for the front of time, accelerators, price and memory.
///
/// Requires checked options (check_plan). Throws InputError for a scenario with problems, and for a
/// price asked for that it does not give.
[[nodiscard]] ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal,
                                       Diagnostics& diagnostics);

}  // namespace headway
