#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "sim/launch/flag_table.h"
#include "sim/plan/leaders.h"

namespace headway {

/// What every plan is made with.
struct PlanOptions {
  LeaderOptions leaders;
  std::set<std::string> kept;  ///< names of searched fields that stay as the scenario has them
  std::optional<LaunchFramework> framework = {};  ///< whose settings have to be enough

  /// Of a scenario that was read with the options, or another one.
  [[nodiscard]] StrategySpace space(const Scenario& scenario,
                                    std::optional<std::int64_t> accelerators = {}) const {
    return {scenario, kept, accelerators, framework};
  }
};

/// What of a leader's choice the framework that starts jobs of its preset has no setting for, and
/// how to plan without it; empty if there is nothing, nobody starts such jobs, or the plan was made
/// for a framework.
[[nodiscard]] std::string unsaid_choice(const PlanOptions& options, const Leader& leader);

/// Reports a kept field that is not searched, and a scenario that cannot be read more than
/// once.
void check_plan(const PlanOptions& options, Diagnostics& diagnostics);

}  // namespace headway
