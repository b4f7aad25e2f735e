#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/files/json_value.h"
#include "sim/layers/table_plan.h"
#include "sim/plan/plan_options.h"

namespace headway {

/// The best strategies on a given cluster, or what would make one fit.
struct StrategyPlan {
  std::string model;
  std::string cluster;
  std::int64_t accelerators = 0;
  std::int64_t global_batch = 0;
  Bytes capacity;  ///< of an accelerator
  StrategySearch search;
  std::vector<Leader> leaders;  ///< fastest first; empty if nothing fits
  std::string command_line;     ///< of the answer
  std::string unsaid;           ///< of it by the framework that would start it (plan_options.h)
  /// Nothing fits: what comes closest, and the least multiple of the cluster (by powers of two, 64
  /// at most) on which something does.
  JsonValue closest;
  std::optional<std::int64_t> accelerators_that_fit;
  /// Nothing fits: how the model's tables would have to be placed for something to.
  std::optional<TablePlacement> placement_that_fits;
};

/// Requires checked options (check_plan). Throws InputError for a scenario with problems.
[[nodiscard]] StrategyPlan plan_strategy(const PlanOptions& options, Diagnostics& diagnostics);

/// The same for a scenario that was read with the options.
[[nodiscard]] StrategyPlan plan_strategy(const PlanOptions& options, const Scenario& scenario);

}  // namespace headway
