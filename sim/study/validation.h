#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/result/prediction.h"

namespace headway {

/// A published training step, and what we predict for it.
struct ValidationRow {
  std::string id;
  std::string source;
  std::string framework;
  std::string accelerator;
  std::string precision;
  std::int64_t accelerators = 0;
  double published_s = 0.0;
  std::optional<double> predicted_s;  ///< nothing if refused
  Interval interval_s;
  std::string refused;               ///< why there is no prediction; empty if there is one
  std::vector<std::string> assumed;  ///< what the row does not say and was taken for granted

  /// predicted / published - 1. Requires a prediction.
  [[nodiscard]] double error() const { return *predicted_s / published_s - 1.0; }
};

/// Errors over some rows, as fractions.
struct ValidationSummary {
  std::string group;  ///< "all", or a source, accelerator, ...
  std::int64_t rows = 0;
  std::int64_t refused = 0;
  double mean = 0.0;     ///< of |error|
  double median = 0.0;   ///< of |error|
  double p90 = 0.0;      ///< of |error|
  double worst = 0.0;    ///< of |error|
  double bias = 0.0;     ///< mean of error
  double covered = 0.0;  ///< share of published times inside the interval
};

struct Validation {
  std::vector<ValidationRow> rows;         ///< in the order of the file
  std::vector<ValidationSummary> summary;  ///< "all" first, then by source and by accelerator
};

struct ValidateOptions {
  int jobs = 1;
  std::vector<std::string>
      id_prefixes;  ///< keep rows whose id starts with one of them; all if empty
  std::vector<std::string> accelerators;  ///< likewise by exact name
  std::vector<std::string> precisions;
  std::function<void(std::size_t done, std::size_t of)> progress;
};

/// Predicts every row of a file of published training steps and compares. A row that cannot be
/// predicted is refused with its reason and does not stop the rest. Throws InputError if the file
/// is not such a file.
[[nodiscard]] Validation validate_rows(const std::string& path, const ValidateOptions& options,
                                       Diagnostics& diagnostics);

}  // namespace headway
