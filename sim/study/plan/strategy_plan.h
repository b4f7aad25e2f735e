#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/study/plan/leaders.h"

namespace headway {

struct StrategyPlanOptions {
  LeaderOptions leaders;
  std::set<std::string> kept;  ///< names of searched fields that stay as the scenario has them
};

/// The best strategies on a given cluster, or what would make one fit.
struct StrategyPlan {
  std::string model;
  std::string cluster;
  std::int64_t accelerators = 0;
  std::int64_t global_batch = 0;
  Bytes capacity;  ///< of an accelerator
  StrategySearch search;
  std::vector<Leader> leaders;      ///< fastest first; empty if nothing fits
  double search_cpu_seconds = 0.0;  ///< of one core, for everything but the simulations
  std::string command_line;         ///< of the answer
  /// Nothing fits: what comes closest, and the least multiple of the cluster (by powers of two, 64
  /// at most) on which something does.
  nlohmann::json closest;
  std::optional<std::int64_t> accelerators_that_fit;
};

/// Throws InputError for a scenario with problems and for a kept field that is not searched.
[[nodiscard]] StrategyPlan plan_strategy(const StrategyPlanOptions& options,
                                         Diagnostics& diagnostics);

}  // namespace headway
