#include "sim/jobs/rules/strategy_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_text.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy_fields.h"

namespace headway {
namespace {

/// Points from a problem to a field of the model: at the field, or at the model that implies it.
void relate_model(Diagnostic& problem, const StrategyToCheck& input, std::string_view field,
                  std::int64_t value) {
  const std::optional<JsonCursor> place = input.model.cursor.member(field);
  const Diagnostic there = place.value_or(input.model.cursor).problem("");
  problem.related.push_back(
      {.location = there.location,
       .pointer = there.pointer,
       .message = place ? fmt::format("is {}", value) : fmt::format("has {} {}", field, value)});
}

/// Points from a problem to another field of the strategy, if it is written there. What the
/// sequence length is says the model otherwise.
void relate_strategy(Diagnostic& problem, const StrategyToCheck& input, std::string_view field) {
  const std::optional<JsonCursor> place = input.object.member(field);
  if (!place) {
    if (field == "sequence_length") {
      relate_model(problem, input, field, input.strategy.sequence_length);
    }
    return;
  }
  const Diagnostic there = place->problem("");
  problem.related.push_back({.location = there.location,
                             .pointer = there.pointer,
                             .message = "is " + compact_json(place->value())});
}

bool can_judge(const StrategyToCheck& input, const StrategyRule& rule) {
  if (!input.sound(rule.fields) || !input.sound(rule.besides)) return false;
  if (rule.depends_on("data_parallel") && !input.data_parallel_known) return false;
  return !rule.is_of_writing || std::ranges::all_of(rule.fields, [&](std::string_view field) {
    return input.object.member(field).has_value();
  });
}

void check_rule(const StrategyToCheck& input, const StrategyRule& rule) {
  const Layout layout{input.strategy, input.model.model};
  if (!can_judge(input, rule) || rule.holds(layout)) return;
  BrokenRule broken =
      rule.broken ? rule.broken(layout)
                  : BrokenRule{.why = std::string(rule.why), .help = std::string(rule.help)};
  if (broken.title.empty()) broken.title = rule.title.empty() ? rule.words : rule.title;
  Diagnostic problem = strategy_problem(input, rule.fields.front(), std::move(broken.title),
                                        std::move(broken.why), std::move(broken.help));
  problem.severity = rule.severity;
  for (const std::string_view field : std::span(rule.fields).subspan(1)) {
    relate_strategy(problem, input, field);
  }
  for (const auto& [field, value] : broken.of_model) relate_model(problem, input, field, value);
  input.diagnostics.add(std::move(problem));
}

/// Fields that are written although they say nothing about the strategy.
void check_needs(const StrategyToCheck& input) {
  for (const auto& [name, member, notes] : strategy_fields().fields()) {
    const FieldNeed& need = member.lacking(input.strategy);
    if (member.need.field.empty() || member.is_used(input.strategy) || !input.object.member(name) ||
        !input.sound(std::array{name, need.field})) {
      continue;
    }
    Diagnostic problem = strategy_problem(
        input, name, fmt::format("{} needs {} {}", name, need.field, need.value),
        std::string(need.why),
        fmt::format("set {} to {}, or leave {} out", need.field, need.set_to(), name));
    relate_strategy(problem, input, need.field);
    input.diagnostics.add(std::move(problem));
  }
}

}  // namespace

bool StrategyToCheck::sound(std::span<const std::string_view> fields) const {
  return std::ranges::all_of(fields, [&](std::string_view field) {
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

Diagnostic strategy_problem(const StrategyToCheck& input, std::string_view field,
                            std::string message, std::string label, std::string help) {
  std::optional<JsonCursor> place = input.object.member(field);
  if (!place) place = input.object.member("preset");
  return place.value_or(input.object)
      .problem(std::move(message), std::move(label), std::move(help));
}

void check_strategy(const StrategyToCheck& input) {
  check_ranks(input);
  for (const StrategyRule& rule : strategy_rules()) check_rule(input, rule);
  check_needs(input);
  check_memory_habits(input);
}

}  // namespace headway
