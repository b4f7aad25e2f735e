#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/files/json_document.h"
#include "sim/models/read_model.h"

namespace headway {

struct SoftwareMemory;
struct Strategy;

/// A strategy as it was read, and what it has to fit.
struct StrategyToCheck {
  const Strategy& strategy;
  const SoftwareMemory& habits;  ///< what the preset keeps
  const JsonCursor& object;      ///< the "strategy" object
  const ReadModel& model;
  std::optional<int> accelerators;    ///< unknown if the cluster had problems
  bool data_parallel_known;           ///< and right, as far as the accelerators tell
  const Diagnostics& field_problems;  ///< of each field by itself
  Diagnostics& diagnostics;           ///< problems found are added

  /// Whether none of these fields has a problem of its own, which would make problems of their
  /// combination false alarms.
  [[nodiscard]] bool sound(std::span<const std::string_view> fields) const;
};

/// Reports every rule (strategy_rules.h) that the strategy breaks, degrees that do not fit the
/// accelerators, and fields that say nothing about it. Each problem names a value that would do
/// where there is one.
void check_strategy(const StrategyToCheck& input);

// Its parts.

/// Degrees and accelerators.
void check_ranks(const StrategyToCheck& input);

/// Fields of "memory" that are written, and change nothing in what an accelerator holds: a warning.
void check_memory_habits(const StrategyToCheck& input);

/// A problem at a field of the strategy, or at the preset that set it, or at the object.
[[nodiscard]] Diagnostic strategy_problem(const StrategyToCheck& input, std::string_view field,
                                          std::string message, std::string label, std::string help);

}  // namespace headway
