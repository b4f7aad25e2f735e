#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/study/plan/strategy_plan.h"

namespace headway {

/// What was looked at, the leaders with the reason why each of them lost, and the answer.
[[nodiscard]] std::string strategy_plan_text(const StrategyPlan& plan);
[[nodiscard]] nlohmann::json strategy_plan_json(const StrategyPlan& plan);

}  // namespace headway
