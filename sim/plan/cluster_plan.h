#pragma once

#include <string>
#include <vector>

#include "sim/plan/cluster_size.h"

namespace headway {

/// What would do where nothing meets the goal, on the size that misses it by least (`distance`).
/// Of the deadline, the tokens and the probability each does alone; where failures count the tokens
/// are an estimate. Limits that the size keeps to are the goal's own.
struct NearestChange {
  std::int64_t accelerators = 0;
  Seconds deadline;                   ///< instead of the goal's
  double tokens = 0.0;                ///< instead of the goal's
  double probability = 0.0;           ///< instead of the goal's
  std::optional<double> budget = {};  ///< instead of the goal's, where it has one
  std::optional<Watts> power = {};    ///< instead of the goal's, where it has one
};

/// The cluster of a kind that meets a goal with the least of something.
struct ClusterPlan {
  std::string model;
  std::string cluster;
  bool counts_tokens = true;  ///< the goal is in tokens, not in samples of a model without them
  TrainingGoal goal;
  std::int64_t delivered = 1;            ///< nodes that come together
  bool counts_failures = false;          ///< the scenario has a "reliability"
  Bytes capacity;                        ///< of an accelerator
  std::vector<ClusterSize> sizes;        ///< all that were judged, fewest nodes first
  std::optional<std::size_t> answer;     ///< index of the size
  std::optional<std::size_t> smallest;   ///< of the smallest in time, or without an answer of the
                                         ///< one that misses the goal by least
  std::optional<NearestChange> nearest;  ///< nothing meets the goal, but something runs
  std::string unsaid;  ///< of the answer by the framework that would start it (plan_options.h)

  [[nodiscard]] const ClusterSize* found() const { return answer ? &sizes[*answer] : nullptr; }
  /// The answer, or what comes nearest to one; nullptr if nothing runs.
  [[nodiscard]] const ClusterSize* shown() const {
    return answer ? found() : smallest ? &sizes[*smallest] : nullptr;
  }
  /// The fastest by the closed form of those below the answer; nullptr if nothing can run on any.
  [[nodiscard]] const ClusterSize* closest_smaller() const;
};

/// Searches the number of nodes, with the best strategy for each, among those between what the peak
/// of the accelerators would need and eight times as many as peak and memory ask for
/// (cluster_search.h).
///
/// Throws InputError for a scenario with problems, also those of check_weighed.
[[nodiscard]] ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal,
                                       Diagnostics& diagnostics);

/// Reports what the goal weighs and the scenario does not give, prices and powers, and what keeps a
/// goal from bounding the search.
void check_weighed(const Scenario& base, const TrainingGoal& goal, Diagnostics& diagnostics);

/// The same for a scenario that was read with the options and checked, without larger sizes for the
/// front.
[[nodiscard]] ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal,
                                       const Scenario& base, int delivered);

}  // namespace headway
