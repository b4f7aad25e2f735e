#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sim/jobs/read_strategy.h"

namespace headway::testing {

/// What reading a strategy gave, and the problems as a user sees them.
struct StrategyReading {
  std::optional<ReadStrategy> read;
  std::string problems;
};

/// GPT-3 175B, on lines 2 to 6 of a scenario.
inline constexpr const char* kGpt3 = R"("model": {
    "name": "GPT-3 175B", "source": "Brown et al. 2020",
    "layers": 96, "hidden": 12288, "vocabulary": 51200, "ffn_hidden": 49152,
    "attention_heads": 96, "mlp": "plain", "sequence_length": 2048
  })";

/// Llama 3 8B: grouped-query attention, rotary positions.
inline constexpr const char* kLlama3 = R"("model": {
    "name": "Llama 3 8B", "source": "Grattafiori et al. 2024",
    "layers": 32, "hidden": 4096, "vocabulary": 128256, "ffn_hidden": 14336,
    "attention_heads": 32, "kv_heads": 8, "mlp": "gated", "normalization": "rms_norm",
    "position_encoding": "rotary", "sequence_length": 8192
  })";

/// Reads the "strategy" of a scenario with this model. `fields` are the lines inside its braces;
/// the first of them is on line 8 (GPT-3) or 9 (Llama 3) of "scenario.json".
inline StrategyReading read_strategy_text(const std::string& model, const std::string& fields,
                                          std::optional<int> accelerators = std::nullopt) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse(
      "scenario.json", "{\n  " + model + ",\n  \"strategy\": {\n" + fields + "\n  }\n}\n",
      diagnostics);
  InputFiles files({}, {}, diagnostics);
  StrategyReading reading;
  if (document != nullptr) {
    const JsonCursor scenario(document);
    const std::optional<ReadModel> read = read_model(*scenario.member("model"), files);
    if (read) {
      reading.read = read_strategy(*scenario.member("strategy"), *read, accelerators, files);
    }
  }
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!reading.problems.empty()) reading.problems += "\n";
    reading.problems += rendered(diagnostic);
  }
  return reading;
}

/// All problems of that strategy, as a user reads them.
inline std::string problems(const std::string& model, const std::string& fields,
                            std::optional<int> accelerators = std::nullopt) {
  return read_strategy_text(model, fields, accelerators).problems;
}

}  // namespace headway::testing
