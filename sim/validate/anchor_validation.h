#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/shared_error.h"
#include "sim/validate/validation.h"

namespace headway {

/// What is predicted of a row where the step of another one was measured.
struct PredictionByAnchor {
  std::size_t measured = 0;  ///< place of that row
  double shared = 0.0;       ///< of its error, as shared_error has it
  double predicted_s = 0.0;
  Interval interval_s;
};

/// A published step that users' software is asked for, and each that they may have measured: those
/// of the same source, model and accelerator.
struct AnchoredRow {
  ValidationRow head;  ///< predicted without any
  ErrorTraits traits;
  /// The factor that explains its own step; nothing where no software could be as fast.
  std::optional<double> software_factor;
  std::vector<PredictionByAnchor> by_anchor;
};

/// Errors of rows with an anchor at least, each counting once: with the means over its anchors.
struct AnchorSummary {
  std::string by;     ///< RowProperty::name; empty over all rows
  std::string group;  ///< the word they share; "all" over all rows
  std::int64_t pairs = 0;
  ErrorStatistics without;
  ErrorStatistics with;
};

struct AnchorValidation {
  std::vector<AnchoredRow> rows;       ///< in the order of the file
  std::vector<AnchorSummary> summary;  ///< over all, then by kind and by source
  bool left_out_source = false;        ///< as asked for
  bool left_out_choices = false;
};

/// What a measured step of a row is worth to the others, as `headway anchor` has it: with the
/// constants that ship, and nothing that only a row's own source has; or with constants that have
/// seen no row of it. Throws as validate_rows does.
[[nodiscard]] AnchorValidation validate_anchors(const std::string& path,
                                                const ValidateOptions& options,
                                                Diagnostics& diagnostics);

}  // namespace headway
