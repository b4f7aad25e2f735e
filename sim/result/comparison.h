#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/files/json_value.h"
#include "sim/result/prediction.h"

namespace headway {

/// A field of the resolved scenario that differs.
struct InputChange {
  std::string pointer;    ///< "/strategy/tensor_parallel"
  JsonValue before;  ///< null if absent
  JsonValue after;
};

/// What one change of the input does to the iteration. Changes that make no valid scenario one by
/// one (degrees whose product is fixed) are made together.
struct ChangeEffect {
  std::vector<InputChange> changes;
  Seconds before;                  ///< iteration with all earlier effects of the list
  Seconds after;                   ///< and with this one
  double throughput_before = 0.0;  ///< tokens (samples where none are counted) a second
  double throughput_after = 0.0;
  std::optional<Seconds> alone;  ///< what it adds to A with nothing else changed
  std::optional<Seconds> last;   ///< what it adds where all else is as in B
};

/// Two jobs, and which difference of their inputs makes which part of the difference of their
/// times. The effects lead from A to B in turn, so their differences add up; what an effect is
/// worth alone and last shows how much that depends on the order.
struct Comparison {
  std::string name_a;
  std::string name_b;
  Prediction a;  ///< simulated even where memory is short
  Prediction b;
  std::vector<ChangeEffect> effects;  ///< greatest effect alone first
  std::vector<std::string> notes;     ///< what a reader should know of how it was found
};

}  // namespace headway
