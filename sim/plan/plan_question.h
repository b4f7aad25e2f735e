#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/plan/cluster_plan.h"
#include "sim/plan/goal.h"
#include "sim/plan/largest_plan.h"
#include "sim/plan/plan_options.h"
#include "sim/plan/purchase_plan.h"
#include "sim/plan/strategy_plan.h"
#include "sim/scenario/candidates.h"

namespace headway {

/// What is asked of a plan, from whoever asks and from the scenario itself.
struct PlanQuestion {
  PlanOptions options;
  std::optional<Goal> goal;
  std::vector<CandidateCluster> candidates;  ///< to choose among; those asked for only
};

/// Leaders that a plan may be asked for.
inline constexpr std::int64_t kMostLeaders = 1000;

/// Reads the scenario's goal and candidates, where `goal` (as parse_goal takes it) does not replace
/// the first, and checks all of it: problems go into the diagnostics, and are thrown. `best`: of
/// the leaders; 10 if nothing is said, or 1 where the question is how large.
[[nodiscard]] PlanQuestion read_plan_question(PlanOptions options,
                                              const std::optional<std::string>& goal,
                                              std::optional<std::int64_t> best,
                                              Diagnostics& diagnostics);

/// The answer, by what was asked for: a strategy, how large, how many, which and how many.
using Plan = std::variant<StrategyPlan, LargestPlan, ClusterPlan, PurchasePlan>;
[[nodiscard]] Plan planned(const PlanQuestion& question, Diagnostics& diagnostics);

/// What the answer comes down to; nullptr where it is no. Part of `plan`.
[[nodiscard]] const Leader* best_of(const Plan& plan);

}  // namespace headway
