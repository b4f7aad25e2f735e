#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Reads a scenario that is at hand already, as results hold it; `name` stands for it in messages.
/// Throws InputError.
[[nodiscard]] Scenario read_resolved_scenario(const nlohmann::json& resolved,
                                              const std::string& name, Diagnostics& diagnostics);

}  // namespace headway
