#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/result/study.h"

namespace headway {

/// What a report is made of: one prediction, or else a study.
struct Reported {
  std::optional<Prediction> prediction;
  Study study;
};

/// Reads result documents, or the stores of sweeps: folders and files that end in ".db", which are
/// shards of one sweep or sweeps with the same axes. Several results are points of a study, and a
/// single one is where it is asked for `as_study`. Throws InputError with every problem.
[[nodiscard]] Reported read_reported(const std::vector<std::string>& paths, bool as_study);

/// A measurement of a size that was not predicted is drawn by itself, which may be a slip.
void warn_of_lone_measurements(const Study& study, Diagnostics& diagnostics);

}  // namespace headway
