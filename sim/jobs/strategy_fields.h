#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/strategy.h"

namespace headway {

inline constexpr std::string_view kStrategySchema = "headway/strategy/1";

/// Every field of the "strategy" of a scenario. Those that a framework decides where a job does not
/// say otherwise can be preset.
[[nodiscard]] const FieldTable<Strategy>& strategy_fields();

}  // namespace headway
