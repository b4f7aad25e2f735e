#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reports/document/document.h"
#include "sim/plan/strategy_plan.h"

namespace headway {

/// What was looked at, the leaders with the reason why each of them lost, and the answer.
[[nodiscard]] Document strategy_plan_document(const StrategyPlan& plan);
[[nodiscard]] nlohmann::json strategy_plan_json(const StrategyPlan& plan);

/// How fast strategies were judged; it differs from run to run, so it is no part of the result.
[[nodiscard]] std::string rate_text(const StrategyPlan& plan);

/// Its leaders, a row each.
[[nodiscard]] std::string strategy_plan_csv(const StrategyPlan& plan);

/// The answer of a plan on a page: in words and numbers, and the command that gives it.
[[nodiscard]] DocumentSection plan_answer_section(const Prediction& best, std::string command_line,
                                                  const std::string& unsaid);
/// With a line break behind it, unless it is empty.
[[nodiscard]] std::string own_line(const std::string& text);

}  // namespace headway
