#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/jobs/rules/strategy_checks.h"

namespace headway {

/// A problem at a field of the strategy, or at the preset that set it, or at the object.
[[nodiscard]] Diagnostic strategy_problem(const StrategyToCheck& input, std::string_view field,
                                          std::string message, std::string label, std::string help);

/// Points from a problem to another field of the strategy, if it is written there.
void relate_strategy(Diagnostic& problem, const StrategyToCheck& input, std::string_view field);

/// Points from a problem to a field of the model: at the field, or at the model that implies it.
void relate_model(Diagnostic& problem, const StrategyToCheck& input, std::string_view field,
                  std::int64_t value);

/// "use 8 or 12": the values next to `wanted` that `is_valid` takes, one below and one above,
/// within [1, most]. Empty if there is none.
[[nodiscard]] std::string nearest_help(std::int64_t wanted, std::int64_t most,
                                       const std::function<bool(std::int64_t)>& is_valid);

}  // namespace headway
