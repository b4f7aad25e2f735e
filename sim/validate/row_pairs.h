#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/validate/validation_row.h"

namespace headway {

/// Two rows of one source that differ in one thing only, and what that did to the samples' tokens
/// that an accelerator trains in a second.
struct RowPair {
  std::string first;  ///< ids; the second has more of what they differ in
  std::string second;
  double published = 1.0;  ///< the second's rate over the first's
  double predicted = 1.0;
};

/// How well predictions tell what changing one thing does.
struct KnobPairs {
  std::string knob;            ///< "micro-batch", "weak scaling"
  std::vector<RowPair> pairs;  ///< not empty
  /// The slope of a line through zero, logarithms of predicted over published effects: 1, effects
  /// are as large as they were.
  double slope = 0.0;
  std::int64_t telling = 0;     ///< pairs that published more than 2 % of effect
  std::int64_t right_sign = 0;  ///< of those
  double median_error = 0.0;    ///< of |predicted - published|
};

/// Every pair of rows of one source that differ in one thing, by what that is; over all first. Data
/// parallelism follows from the rest, and a batch that grows with the accelerators is weak scaling.
/// Rows without a prediction are left out. Requires `predicted` in the order of `published`.
[[nodiscard]] std::vector<KnobPairs> pairs_by_knob(const std::vector<PublishedRow>& published,
                                                   const std::vector<ValidationRow>& predicted);

}  // namespace headway
