#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/cluster_plan.h"
#include "sim/scenario/candidates.h"

namespace headway {

/// What became of a candidate.
struct CandidatePlan {
  std::string name;
  ClusterPlan plan;
};

/// Which of several clusters to take, and how much of it.
struct PurchasePlan {
  TrainingGoal goal;
  std::string model;
  std::vector<CandidatePlan> candidates;  ///< in the order of the file
  std::optional<std::size_t> answer;      ///< index

  [[nodiscard]] const CandidatePlan* found() const {
    return answer ? &candidates[*answer] : nullptr;
  }
};

/// Plans each candidate by itself, as a cluster that comes in its deliveries, and takes the one
/// that meets the goal with least of what is to be minimised.
///
/// Throws InputError with every problem of check_candidates.
[[nodiscard]] PurchasePlan plan_purchase(const PlanOptions& options, const TrainingGoal& goal,
                                         const std::vector<CandidateCluster>& candidates,
                                         Diagnostics& diagnostics);

/// Reports what is wrong with each of the candidates, whatever its strategy, and what the goal
/// weighs and a candidate does not give; nothing is weighed where there is no goal. What all
/// candidates share is told once.
void check_candidates(const PlanOptions& options, const std::vector<CandidateCluster>& candidates,
                      const TrainingGoal* goal, Diagnostics& diagnostics);

/// Reports what is wrong with what of a scenario speaks to plans alone: its goal, and any of its
/// candidates, whatever its strategy. "-" has none.
void check_plan_fields(const std::string& path, const ScenarioOptions& options,
                       Diagnostics& diagnostics);

}  // namespace headway
