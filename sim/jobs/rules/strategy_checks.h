#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "sim/files/json_document.h"
#include "sim/jobs/strategy.h"
#include "sim/models/read_model.h"

namespace headway {

/// A strategy as it was read, and what it has to fit.
struct StrategyToCheck {
  const Strategy& strategy;
  const JsonCursor& object;  ///< the "strategy" object
  const ReadModel& model;
  std::optional<int> accelerators;    ///< unknown if the cluster had problems
  bool data_parallel_known;           ///< and right, as far as the accelerators tell
  const Diagnostics& field_problems;  ///< of each field by itself
  Diagnostics& diagnostics;           ///< problems found are added

  /// Whether none of these fields has a problem of its own, which would make problems of their
  /// combination false alarms.
  [[nodiscard]] bool sound(std::initializer_list<std::string_view> fields) const;
};

/// Reports every combination of fields that cannot be: among themselves, with the model and with
/// the accelerators. Each problem names a value that would do where there is one.
void check_strategy(const StrategyToCheck& input);

// Its parts, by what they hold together.
void check_ranks(const StrategyToCheck& input);     ///< degrees and accelerators
void check_tensors(const StrategyToCheck& input);   ///< degrees and the model's dimensions
void check_pipeline(const StrategyToCheck& input);  ///< stages, layers and micro-batches
void check_experts(const StrategyToCheck& input);   ///< how experts are shared out
void check_options(const StrategyToCheck& input);   ///< behaviours that need one another

}  // namespace headway
