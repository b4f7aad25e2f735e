#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"
#include "sim/jobs/memory.h"
#include "sim/jobs/rules/strategy_checks.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

constexpr std::string_view kPart = "memory";

/// The job, but for one field of its memory, which the software decides.
Strategy with_habit(const StrategyToCheck& input, const Field<SoftwareMemory>& field,
                    const JsonValue& habit) {
  Diagnostics diagnostics;
  const nlohmann::json only{{std::string(field.name), *habit}};
  ObjectReader reader(JsonCursor(JsonDocument::parse(std::string(kPart), only.dump(), diagnostics)),
                      diagnostics);
  Strategy strategy = input.strategy;
  field.member.read(reader, field.name, false, strategy.memory);
  return strategy;
}

/// Whether every stage holds the same, cause by cause.
bool hold_the_same(const std::vector<StageMemory>& left, const std::vector<StageMemory>& right) {
  return std::ranges::equal(left, right, [](const StageMemory& one, const StageMemory& other) {
    return one.host == other.host && std::ranges::all_of(kMemoryParts, [&](const MemoryPart& part) {
             return one.*part.amount == other.*part.amount;
           });
  });
}

}  // namespace

void check_memory_habits(const StrategyToCheck& input) {
  const std::optional<JsonCursor> part = input.object.member(kPart);
  if (!part || !input.data_parallel_known || input.field_problems.has_errors() ||
      input.diagnostics.has_errors()) {
    return;
  }
  std::optional<std::vector<StageMemory>> held;
  for (const Field<SoftwareMemory>& field : software_memory_fields().fields()) {
    const std::optional<JsonCursor> written = part->member(field.name);
    if (!written) continue;
    const JsonValue habit = field.member.write(input.habits);
    if (habit->is_null() || *habit == *field.member.write(input.strategy.memory)) continue;
    if (!held) held = stage_memory(input.model.model, input.strategy);
    if (!hold_the_same(*held, stage_memory(input.model.model, with_habit(input, field, habit)))) {
      continue;
    }
    Diagnostic problem = written->problem(
        fmt::format("memory.{} changes nothing in this job", field.name),
        fmt::format("an accelerator holds as much with {}", compact_json(*habit)),
        fmt::format("leave it out; `headway explain strategy.memory.{}` says what it is about",
                    field.name));
    problem.severity = Severity::warning;
    input.diagnostics.add(std::move(problem));
  }
}

}  // namespace headway
