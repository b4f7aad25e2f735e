#pragma once

#include <optional>

#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/jobs/strategy.h"
#include "sim/models/read_model.h"

namespace headway {

struct ReadStrategy {
  Strategy strategy;
  JsonCursor cursor;
  JsonValue resolved;  ///< every field, defaults and the preset's written out

  /// A diagnostic that points at a field: where it is written, else at the preset, which says what
  /// it is, else at the strategy.
  [[nodiscard]] Diagnostic problem(std::string_view field, std::string message,
                                   std::string label = "", std::string help = "") const;
};

/// Reads the "strategy" object of a scenario: a preset's fields, overlaid with the explicit ones,
/// checked against the model ("tensor_parallel must divide the attention heads") and against the
/// number of accelerators at hand. `data_parallel` may be left out: it is what the accelerators
/// leave. `accelerators` unknown (the cluster had problems of its own) skips those checks.
///
/// Nothing if there was an error; problems go into the diagnostics of `files`. What was resolved
/// reads back as the same strategy.
[[nodiscard]] std::optional<ReadStrategy> read_strategy(const JsonCursor& part,
                                                        const ReadModel& model,
                                                        std::optional<int> accelerators,
                                                        InputFiles& files);

/// Sets the fields of a "strategy" object to what reading them gives this strategy.
void write_strategy(const Strategy& strategy, const Model& model, nlohmann::json& fields);

/// The fields of a strategy that a framework decides, on top of `base`: not the degrees, not the
/// batches, not the task.
[[nodiscard]] Strategy read_habits(const JsonCursor& part, const Strategy& base,
                                   Diagnostics& diagnostics);

}  // namespace headway
