#include "sim/jobs/rules/strategy_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace headway {

Diagnostic strategy_problem(const StrategyToCheck& input, std::string_view field,
                            std::string message, std::string label, std::string help) {
  std::optional<JsonCursor> place = input.object.member(field);
  if (!place) place = input.object.member("preset");
  return place.value_or(input.object)
      .problem(std::move(message), std::move(label), std::move(help));
}

void relate_strategy(Diagnostic& problem, const StrategyToCheck& input, std::string_view field) {
  const std::optional<JsonCursor> place = input.object.member(field);
  if (!place) return;
  const Diagnostic there = place->problem("");
  problem.related.push_back({.location = there.location,
                             .pointer = there.pointer,
                             .message = "is " + place->value().dump()});
}

void relate_model(Diagnostic& problem, const StrategyToCheck& input, std::string_view field,
                  std::int64_t value) {
  const std::optional<JsonCursor> place = input.model.cursor.member(field);
  const Diagnostic there = place.value_or(input.model.cursor).problem("");
  problem.related.push_back(
      {.location = there.location,
       .pointer = there.pointer,
       .message = place ? fmt::format("is {}", value) : fmt::format("has {} {}", field, value)});
}

std::string nearest_help(std::int64_t wanted, std::int64_t most,
                         const std::function<bool(std::int64_t)>& is_valid) {
  constexpr std::int64_t kFarthest = 1'000'000;  // nobody has more of anything to split by
  most = std::min(most, kFarthest);
  std::string help;
  for (std::int64_t below = std::min(wanted - 1, most); below >= 1; --below) {
    if (!is_valid(below)) continue;
    help = fmt::format("use {}", below);
    break;
  }
  for (std::int64_t above = wanted + 1; above <= most; ++above) {
    if (is_valid(above)) return help + fmt::format("{} {}", help.empty() ? "use" : " or", above);
  }
  return help;
}

}  // namespace headway
