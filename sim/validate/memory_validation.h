#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/validate/validation.h"

namespace headway {

/// A published job that ran, or ran out of memory, and what we say of it.
struct MemoryRow {
  ValidationRow head;  ///< without a prediction of time
  bool ran = true;
  std::optional<Bytes> needed;  ///< on the fullest stage; nothing if it cannot be told
  Bytes capacity;
  std::string refused;  ///< why it cannot be told

  [[nodiscard]] bool is_right() const { return needed && (*needed <= capacity) == ran; }
};

/// How often that is right, for each of the two classes.
struct MemorySummary {
  std::string by;     ///< RowProperty::name; empty over all
  std::string group;  ///< the word they share; "all" over all
  std::int64_t ran = 0;
  std::int64_t accepted = 0;  ///< of those that ran
  std::int64_t failed = 0;
  std::int64_t rejected = 0;  ///< of those that ran out of memory
  std::int64_t refused = 0;   ///< could not be told, in either class
};

/// How often it would be right if jobs were said to fit that need up to so much of the capacity.
struct MemoryTradeOff {
  double limit = 1.0;  ///< of the capacity
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
};

struct MemoryValidation {
  std::vector<MemoryRow> rows;
  std::vector<MemorySummary> summary;  ///< over all, then by framework and by accelerator
  std::vector<MemoryTradeOff> trade_off;
  /// Jobs that no limit tells apart: of those of one software that need the same to the byte, some
  /// ran and some ran out of memory. The fewer of the two are judged wrong at any.
  std::int64_t undecidable = 0;
};

/// Judges the memory of every published step (it ran, so it has to fit) and of every published
/// trial that ran out of memory (it has not to); of the rows that ship if `path` is empty.
[[nodiscard]] MemoryValidation validate_memory(const std::string& path,
                                               const ValidateOptions& options,
                                               Diagnostics& diagnostics);

}  // namespace headway
