#include "sim/jobs/rules/strategy_checks.h"

#include <algorithm>

namespace headway {

bool StrategyToCheck::sound(std::initializer_list<std::string_view> fields) const {
  return std::all_of(fields.begin(), fields.end(), [&](std::string_view field) {
    const std::optional<JsonCursor> place = object.member(field);
    if (!place) return field != "global_batch";  // the one field without a default
    const std::vector<Diagnostic>& found = field_problems.all();
    return std::none_of(found.begin(), found.end(), [&](const Diagnostic& problem) {
      return problem.severity == Severity::error &&
             (problem.pointer == place->pointer() ||
              problem.pointer.starts_with(place->pointer() + "/"));
    });
  });
}

void check_strategy(const StrategyToCheck& input) {
  check_ranks(input);
  check_tensors(input);
  check_pipeline(input);
  check_experts(input);
  check_options(input);
}

}  // namespace headway
