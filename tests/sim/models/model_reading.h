#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/layers/parameters.h"
#include "sim/models/read_model.h"
#include "tests/support/source_folder.h"

namespace headway::testing {

/// What reading a model gave, and the problems as a user sees them.
struct ModelReading {
  std::optional<ReadModel> read;
  std::string problems;
  bool has_errors = false;
};

/// Of the model that was read; 0 without one.
inline std::int64_t parameters(const ModelReading& reading) {
  return reading.read ? parameter_count(reading.read->model) : 0;
}

inline ModelReading reading_of(const JsonCursor& part, InputFiles& files) {
  ModelReading reading;
  reading.read = read_model(part, files);
  for (const Diagnostic& diagnostic : files.diagnostics().all()) {
    reading.problems += rendered(diagnostic);
  }
  reading.has_errors = files.diagnostics().has_errors();
  return reading;
}

/// Reads `text` as the content of "model.json".
inline ModelReading read_model_text(std::string text) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("model.json", std::move(text), diagnostics);
  InputFiles files({}, {source_folder()}, diagnostics);
  return reading_of(JsonCursor(document), files);
}

/// Reads the member "model" of the scenario `text`, which stands in the file `name`, with the
/// values of `settings` ("/model/layers=8") in place.
inline ModelReading read_scenario_model(std::string text,
                                        const std::vector<std::string>& settings = {},
                                        std::string name = "scenario.json") {
  Diagnostics diagnostics;
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  const auto document = JsonDocument::parse(std::move(name), std::move(text), diagnostics);
  InputFiles files(overrides, {source_folder()}, diagnostics);
  return reading_of(JsonCursor(document).member("model").value(), files);
}

}  // namespace headway::testing
