#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/validate/sync/sync_kind.h"

namespace headway {

/// A row, its kind and what became of it.
struct PredictedSyncRow {
  SyncRow row;
  std::string kind;  ///< SyncKind::name; empty where none takes it
  SyncOutcome outcome;
};

/// How large errors are, whatever their sign.
struct SyncErrors {
  std::size_t count = 0;
  double median = 0.0;
  double mean = 0.0;
  double worst = 0.0;
};

/// What became of the rows of a kind. Those that others rest on do not count.
struct SyncSummary {
  std::string kind;  ///< "all" over all
  std::size_t rows = 0;
  std::size_t refused = 0;
  std::size_t calibrating = 0;
  SyncErrors relative;      ///< of values that are no shares
  SyncErrors points;        ///< of shares
  std::size_t pairs = 0;    ///< of values to be ordered, more than 5 % apart
  std::size_t ordered = 0;  ///< of those, whose order is right
};

struct SyncValidation {
  std::vector<PredictedSyncRow> rows;  ///< in the order of the file
  std::vector<SyncSummary> summary;    ///< over all, then by kind
};

struct SyncOptions {
  std::string path;  ///< empty: the rows that ship
  std::vector<std::string> id_prefixes;
  int jobs = 1;
  std::function<void(std::size_t done, std::size_t of)> progress;
};

/// Predicts every row and compares. A row that cannot be predicted is refused with its reason and
/// does not stop the rest. Throws InputError if the file is no such file, or if no row is left.
[[nodiscard]] SyncValidation validate_sync(const SyncOptions& options, Diagnostics& diagnostics);

/// Over all, then by kind in the order of the table.
[[nodiscard]] std::vector<SyncSummary> sync_summaries(const std::vector<PredictedSyncRow>& rows);

}  // namespace headway
