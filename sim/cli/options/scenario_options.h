#pragma once

#include "sim/cli/invocation.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What --set, --profile, --seed and --replicas change in the scenario, as far as the command has
/// them. Reports a --set that cannot be understood. `option`: another one that is written like it.
[[nodiscard]] std::vector<Override> overrides_of(const Arguments& arguments,
                                                 Diagnostics& diagnostics,
                                                 const std::string& option = "set");
[[nodiscard]] ScenarioOptions scenario_options_of(const Arguments& arguments,
                                                  Diagnostics& diagnostics);

/// Warnings among the diagnostics, to standard error.
void show_warnings(const Diagnostics& diagnostics, Terminal& terminal);

}  // namespace headway
