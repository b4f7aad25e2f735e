#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/plan/largest_plan.h"

namespace headway {

/// What was tried, the largest that fits, and the strategies that are fastest there.
[[nodiscard]] std::string largest_plan_text(const LargestPlan& plan);
[[nodiscard]] nlohmann::json largest_plan_json(const LargestPlan& plan);

}  // namespace headway
