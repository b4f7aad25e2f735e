#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "sim/jobs/frameworks.h"
#include "sim/launch/flag_table.h"
#include "sim/launch/reading/given_settings.h"

namespace headway {

/// What flags say of a strategy.
struct ToldStrategy {
  nlohmann::json said;     ///< fields that a flag speaks of
  nlohmann::json unasked;  ///< of the others what the framework does, where the table knows one
                           ///< such value
};

/// The flags of a framework as fields of a strategy: `flag_table` read backwards. What should be a
/// number and is none is an error; `used` gains the flags that were understood.
[[nodiscard]] ToldStrategy strategy_of_settings(const GivenSettings& settings,
                                                LaunchFramework framework,
                                                std::set<std::string>& used,
                                                Diagnostics& diagnostics);

/// What is said, and of the rest what a preset would do otherwise than the framework does unasked.
[[nodiscard]] nlohmann::json beside_preset(const ToldStrategy& told, const Framework& preset,
                                           bool has_experts);

}  // namespace headway
