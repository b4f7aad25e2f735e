#pragma once

#include <vector>

#include "sim/files/field_table.h"
#include "sim/jobs/strategy.h"

namespace headway {

inline constexpr std::string_view kStrategySchema = "headway/strategy/1";

/// Every field of the "strategy" of a scenario. Those that a framework decides where a job does not
/// say otherwise can be preset.
[[nodiscard]] const FieldTable<Strategy>& strategy_fields();

// In this order, by what they are about.
[[nodiscard]] std::vector<Field<Strategy>> layout_fields();  ///< degrees, stages, experts, batches
[[nodiscard]] std::vector<Field<Strategy>> layer_fields();   ///< what a layer computes and keeps
[[nodiscard]] std::vector<Field<Strategy>> update_fields();  ///< what becomes of gradients; software

}  // namespace headway
