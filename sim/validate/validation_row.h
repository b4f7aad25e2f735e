#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sim/costs/profile.h"
#include "sim/files/json_value.h"
#include "sim/scenario/scenario.h"
#include "sim/validate/validation_summary.h"

namespace headway {

/// What a published row says, as far as a prediction needs it; names as in the file.
struct PublishedRow {
  ValidationRow head;              ///< without a prediction
  bool ran_out_of_memory = false;  ///< then there is no time
  JsonValue model;
  JsonValue train;
  std::string release;
  int nvlink_domain = 1;
  double nic_gigabytes_per_second = 0.0;  ///< for each accelerator
};

/// Why a row cannot be predicted.
struct Refusal {
  std::string reason;
};

/// How much of what a row says of its strategy counts.
enum class RowDetail {
  all,
  no_choices  ///< what has to be said only: preset, degrees, batches, precision, task
};

/// The scenario that a row describes: its model and strategy on a non-blocking, rail-optimised
/// fabric of its node type and NICs, with the first of `profiles` that is of its accelerator, else
/// with the one that ships. Adds to `assumed` what the row does not say.
[[nodiscard]] std::variant<Scenario, Refusal> scenario_of_row(
    const PublishedRow& row, const std::vector<std::shared_ptr<const Profile>>& profiles,
    std::vector<std::string>& assumed, RowDetail detail = RowDetail::all);

}  // namespace headway
