#include "sim/scenario/writing/shorter_scenario.h"

#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/file_text.h"
#include "sim/scenario/scenario.h"

namespace headway {
namespace {

using nlohmann::json;

/// What a job is; a reader looks for it even where it could be left out.
bool is_kept(const std::string& field) {
  return field == "preset" || field == "micro_batch" || field == "global_batch" ||
         field == "precision" || field.ends_with("_parallel");
}

/// With problems that stand in it, thrown, and warnings.
json resolved_strategy(const json& scenario, Diagnostics& warnings) {
  const HeldFile held("what was imported", scenario.dump(2));
  const Scenario read = read_scenario("what was imported", {}, warnings);
  return read.resolved->at("strategy");
}

}  // namespace

json shorter_scenario(const json& scenario, Diagnostics& diagnostics) {
  json said;
  try {
    Diagnostics warnings;
    said = resolved_strategy(scenario, warnings);
    diagnostics.append(warnings);
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
    return scenario;
  }
  json shorter = scenario;
  for (const auto& [field, value] : scenario.at("strategy").items()) {
    if (is_kept(field)) continue;
    json without = shorter;
    without["strategy"].erase(field);
    // One field may be needed beside another: each is tried by itself.
    Diagnostics ignored;
    try {
      if (resolved_strategy(without, ignored) == said) shorter = std::move(without);
    } catch (const InputError&) {
      continue;  // it has to be said
    }
  }
  return shorter;
}

}  // namespace headway
