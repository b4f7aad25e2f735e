// Resolved scenarios that tests of launch files start.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/launch/flag_table.h"
#include "sim/launch/launch_job.h"
#include "sim/scenario/scenario.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/source_folder.h"

namespace headway {

/// One that ships, resolved.
inline JsonValue shipped_scenario(const std::string& name, std::vector<Override> overrides = {}) {
  Diagnostics diagnostics;
  ScenarioOptions options;
  options.overrides = std::move(overrides);
  return read_scenario(source_folder() + "/scenarios/" + name + ".json", options, diagnostics)
      .resolved;
}

/// Replicas of a small transformer on four nodes of two accelerators.
inline JsonValue replicas(const nlohmann::json& strategy) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {{"micro_batch", 2}, {"global_batch", 64}};
  scenario["strategy"].update(strategy);
  return scenario_of(scenario).resolved;
}

/// What Megatron-LM is told of so many layers there.
inline FlagList megatron_flags(int layers, const nlohmann::json& strategy) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"]["layers"] = layers;
  scenario["strategy"] = {{"preset", "megatron"}, {"micro_batch", 1}, {"global_batch", 64}};
  scenario["strategy"].update(strategy);
  return launch_job(scenario_of(scenario).resolved, LaunchFramework::megatron).flags;
}

/// "field value" of each.
inline std::vector<std::string> words_of(const std::vector<UnsaidField>& fields) {
  std::vector<std::string> words;
  for (const UnsaidField& field : fields) words.push_back(field.field + " " + field.value);
  return words;
}

}  // namespace headway
