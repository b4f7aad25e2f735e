#pragma once

#include <vector>

#include "sim/files/json_document.h"
#include "sim/validate/validation_filter.h"
#include "sim/validate/validation_row.h"

namespace headway {

/// What ships, as InputFiles finds it below "scenarios": steps that were timed, and trials that ran
/// out of memory.
inline constexpr const char* kBuiltInSteps = "validation/published_steps.json";
inline constexpr const char* kBuiltInTrials = "validation/memory_trials.json";

/// Reads a file of published training steps: {"rows": [...]}. A row is an object that holds all it
/// says, or an array named by "columns". In both forms a text for "model" or "source" names an
/// entry of the tables "models" and "sources", texts of "defaults_used" may name entries of
/// "remarks", and "train_unless_said" holds what a row's "train" leaves out. A row with a
/// "result" (the only one is "out of memory") has no time. What is missing or wrong becomes a
/// diagnostic at its place.
[[nodiscard]] std::vector<PublishedRow> read_published_steps(const JsonCursor& root,
                                                             Diagnostics& diagnostics);

/// The rows of these files that the filter leaves. Throws InputError if one is no such file, or if
/// no row is left.
[[nodiscard]] std::vector<PublishedRow> asked_rows(const std::vector<std::string>& paths,
                                                   const ValidationFilter& filter,
                                                   Diagnostics& diagnostics);

}  // namespace headway
