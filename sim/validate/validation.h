#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/costs/profile.h"
#include "sim/scenario/cost_terms.h"
#include "sim/validate/row_pairs.h"
#include "sim/validate/validation_filter.h"
#include "sim/validate/validation_summary.h"

namespace headway {

struct ChildOutcome;

/// What becomes of the errors without one term of the cost model.
struct Ablation {
  struct Row {
    std::string id;
    double with = 0.0;  ///< error, predicted / published - 1
    double without = 0.0;
  };
  std::string term;
  ErrorStatistics without;  ///< each row counts once
  std::vector<Row> moved;   ///< rows whose prediction changed, those it changed most first
};

struct Validation {
  std::vector<ValidationRow> rows;         ///< in the order of the file
  std::vector<ValidationSummary> summary;  ///< over all, then by each property
  std::vector<Ablation> ablations;         ///< in the order asked for
  std::vector<KnobPairs> knobs;            ///< if asked for; empty if no rows make pairs
  bool left_out_source = false;            ///< as asked for
  bool left_out_choices = false;           ///< as asked for
};

struct ValidateOptions {
  int jobs = 1;
  /// Has so many tasks done, in place of `jobs` children of this process, and tells what became of
  /// each, as `run_each_in_children` does.
  std::function<void(std::size_t count, const std::function<std::string(std::size_t)>& task,
                     const std::function<void(std::size_t, ChildOutcome&)>& finished)>
      distribute;
  ValidationFilter filter;
  std::vector<const CostTerm*> ablate;  ///< each alone is left out once more
  bool pairs = false;                   ///< what changing one thing does, too
  bool leave_out_source = false;        ///< with constants that have seen no row of a row's source
  bool leave_out_choices = false;       ///< with what has to be said only, as users' jobs
  /// Rows of a profile's accelerator are predicted with it, not with the one that ships.
  std::vector<std::shared_ptr<const Profile>> profiles;
  std::function<void(std::size_t done, std::size_t of)> progress;
};

/// Predicts every row of a file of published training steps (of the one that ships if `path` is
/// empty) and compares. A row that cannot be predicted is refused with its reason and does not stop
/// the rest. Throws InputError if the file is not such a file, or if the filter leaves no row.
[[nodiscard]] Validation validate_rows(const std::string& path, const ValidateOptions& options,
                                       Diagnostics& diagnostics);

}  // namespace headway
