#pragma once

#include <optional>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A scenario that cannot be simulated as it is written, but planned.
struct PlanReading {
  bool is_meant;      ///< the scenario has a goal, or candidates
  std::string about;  ///< one line: the model, the cluster, and how many there are if that is given
};

/// How `headway plan` reads a scenario that read_scenario refuses: with degrees of its own where
/// those written do not go together, on a number of nodes of its own where the scenario's goal
/// leaves it open. Warnings go into the diagnostics. Nothing if that is no use either, or for "-",
/// which is read once.
[[nodiscard]] std::optional<PlanReading> plan_reading(const std::string& path,
                                                      const ScenarioOptions& options,
                                                      Diagnostics& diagnostics);

}  // namespace headway
