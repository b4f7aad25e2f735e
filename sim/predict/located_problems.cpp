#include "sim/predict/located_problems.h"

#include <nlohmann/json.hpp>

#include "sim/base/parse_number.h"
#include "sim/files/json_pointer.h"

namespace headway {
namespace {

std::optional<JsonCursor> child(const JsonCursor& parent, const std::string& token) {
  if (!parent.is_array()) return parent.member(token);
  const auto index = parse_number<std::size_t>(token);
  if (!index || *index >= parent.value().size()) return std::nullopt;
  return parent.element(*index);
}

JsonCursor nearest(JsonCursor cursor, const std::string& pointer) {
  for (const std::string& token : pointer_tokens(pointer)) {
    std::optional<JsonCursor> next = child(cursor, token);
    if (!next) break;
    cursor = std::move(*next);
  }
  return cursor;
}

}  // namespace

InputError located(const InputError& error, const Scenario& scenario) {
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    const bool is_placed = !problem.location.file.empty();
    if (is_placed || problem.pointer.empty() || !scenario.source) continue;
    const Diagnostic place = nearest(*scenario.source, problem.pointer).problem("");
    problem.location = place.location;
    problem.pointer = place.pointer;
  }
  return InputError(std::move(problems));
}

}  // namespace headway
