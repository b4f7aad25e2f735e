#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sim/costs/profile.h"
#include "sim/predict/job_run.h"
#include "sim/validate/validation_row.h"

namespace headway {

/// What the constants that a row is predicted with know of its source.
enum class SourceKnowledge {
  own,     ///< all: what sets its cluster and its people apart, too
  shared,  ///< what users have: the constants that ship, and nothing that is the source's alone
  none     ///< as if none of its rows had been seen
};

struct RowJobOptions {
  std::vector<std::shared_ptr<const Profile>> profiles;  ///< as scenario_of_row takes them
  SourceKnowledge knowledge = SourceKnowledge::own;
  RowDetail detail = RowDetail::all;
};

/// The job that a row describes, as such constants predict it.
[[nodiscard]] std::variant<Scenario, Refusal> job_of_row(const PublishedRow& row,
                                                         const RowJobOptions& options,
                                                         std::vector<std::string>& assumed);

/// A row's job with so many draws of device speeds that more would hardly move their median.
[[nodiscard]] JobRun run_row_job(const Scenario& scenario);

}  // namespace headway
