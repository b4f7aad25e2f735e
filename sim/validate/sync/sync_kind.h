#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/validate/sync/sync_row.h"

namespace headway {

/// A number that a row publishes, and what we say.
struct ComparedValue {
  std::string what;  ///< "step, s"
  double published = 0.0;
  double predicted = 0.0;
  /// A share, whose error is told in points; else it is told in % of what is published.
  bool is_share = false;
  /// Values of one name are held against each other: whether ours come in the order of theirs.
  std::string ordered_with = {};

  [[nodiscard]] double error() const {
    return is_share ? predicted - published : predicted / published - 1.0;
  }
};

/// What becomes of a row.
struct SyncOutcome {
  std::vector<ComparedValue> values;
  std::string refused;               ///< why not; empty if it is predicted
  bool calibrates = false;           ///< others rest on it: it says nothing of how right we are
  std::vector<std::string> assumed;  ///< what the row does not say, and what others it rests on
};

[[nodiscard]] inline SyncOutcome refused(std::string reason) {
  SyncOutcome outcome;
  outcome.refused = std::move(reason);
  return outcome;
}

/// A row to be predicted, and those at hand to calibrate with: what ships and what is asked for.
struct SyncQuestion {
  const SyncRow& row;
  std::span<const SyncRow> known;
};

/// Rows of one sort, how they are recognised and how they are predicted.
struct SyncKind {
  std::string_view name;
  std::string_view about;
  bool (*takes)(const SyncRow& row) = nullptr;
  SyncOutcome (*predict)(const SyncQuestion& question) = nullptr;
};

/// All there are. The first that takes a row predicts it.
[[nodiscard]] std::span<const SyncKind> sync_kinds();
[[nodiscard]] const SyncKind* sync_kind_of(const SyncRow& row);

}  // namespace headway
