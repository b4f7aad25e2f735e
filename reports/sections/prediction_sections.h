#pragma once

#include <optional>
#include <string>

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

// The sections of a report on one prediction. Times, paths and links need a job that was simulated.

/// The answer in words, four numbers with intervals, what else to know of them, the warnings.
[[nodiscard]] DocumentSection answer_section(const Prediction& prediction);
/// Causes by size.
[[nodiscard]] DocumentSection time_section(const Prediction& prediction);
/// What an iteration and the run cost, and the energy by activity; nothing where the scenario gives
/// no prices or powers.
[[nodiscard]] std::optional<DocumentSection> cost_section(const Prediction& prediction);
/// By stage and cause against capacity; of long pipelines the first, fullest and last stage.
[[nodiscard]] DocumentSection memory_section(const MemoryPrediction& memory);
/// What ranks did when, and the critical path by kind.
[[nodiscard]] DocumentSection iteration_section(const Prediction& prediction);
/// What was used of the cables between tiers, and the busiest links.
[[nodiscard]] DocumentSection fabric_section(const Prediction& prediction);
/// How far to believe it: what the interval is made of, what the costs come from, what is left out.
[[nodiscard]] DocumentSection trust_section(const Prediction& prediction);
/// The command, the files and the resolved scenario. Of the provenance, "command_line" (a text, or
/// an array of arguments) is shown as a command, every other member as rows of a table.
[[nodiscard]] DocumentSection reproduction_section(const Question& question);

}  // namespace headway
