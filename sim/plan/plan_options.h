#pragma once

#include <set>
#include <string>

#include "sim/plan/leaders.h"

namespace headway {

/// What every plan is made with.
struct PlanOptions {
  LeaderOptions leaders;
  std::set<std::string> kept;  ///< names of searched fields that stay as the scenario has them
};

/// Reports a kept field that is not searched, and a scenario that cannot be read more than
/// once.
void check_plan(const PlanOptions& options, Diagnostics& diagnostics);

}  // namespace headway
