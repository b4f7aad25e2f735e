#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sim/import/import_format.h"

namespace headway {

/// How large a job is, as far as its file says.
struct JobSize {
  std::optional<double> ranks;
  std::optional<double> nodes;
};

/// What a job runs on: the request's topology, and of it as many nodes as the request asks for, the
/// ranks fill or the file names. What nobody says is an error.
[[nodiscard]] nlohmann::json job_cluster(const ImportRequest& request, const JobSize& size,
                                         Diagnostics& diagnostics);

/// Ranks of a job: those of the nodes that the request asks for, else as the file has it. Nothing
/// where neither says; a topology that is none is told by who reads the scenario.
[[nodiscard]] std::optional<double> job_ranks(const ImportRequest& request, const JobSize& size);

/// A job that was read, as a scenario under the request's name and profile.
[[nodiscard]] nlohmann::json job_scenario(const ImportRequest& request, nlohmann::json model,
                                          nlohmann::json cluster, nlohmann::json strategy);

}  // namespace headway
