#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/plan/strategy_plan.h"

namespace headway {

/// What was looked at, the leaders with the reason why each of them lost, and the answer.
[[nodiscard]] std::string strategy_plan_text(const StrategyPlan& plan);
[[nodiscard]] nlohmann::json strategy_plan_json(const StrategyPlan& plan);

}  // namespace headway
