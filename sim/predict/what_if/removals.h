#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/predict/what_if/bad_links.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/result/what_if.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A source of slowness, and how ranks differ without it.
struct RemovalCase {
  RemovalKind kind = RemovalKind::cause;
  std::string what;
  Perturbation without;
  std::shared_ptr<const Cluster> cluster = nullptr;  ///< nullptr: the scenario's
};

/// The time factor of each of these accelerators, in its slow episodes if it has some.
[[nodiscard]] std::vector<double> worst_time_factors(const Perturbation& perturbation,
                                                     std::span<const std::int32_t> accelerators);

/// The accelerators of the job, in ascending order.
[[nodiscard]] std::vector<std::int32_t> accelerators_of(const Workload& workload);

/// Everybody as the typical accelerator of the job is, nothing drawn.
[[nodiscard]] Perturbation ideal_perturbation(const Perturbation& perturbation,
                                              const Workload& workload);

/// What could be removed one by one from this draw: each kind of perturbation that the scenario
/// has, blocks of each kind, and of cables, stages, replicas, nodes and rank groups the `most`
/// slowest of each; none of which is as fast as the typical one. A node goes with what is plugged
/// into it, and of those with bad cables the `most` worst are tried beside the slowest.
[[nodiscard]] std::vector<RemovalCase> removal_cases(const Perturbation& perturbation,
                                                     const Workload& workload,
                                                     const Cluster& cluster,
                                                     const BadLinks& bad_links, int most);

/// Listed slow accelerators no slower than what most of them share: a factor that most have is no
/// straggler's, and stays. `accelerators`: of the job, ascending.
[[nodiscard]] Perturbation without_listed_slowness(const Perturbation& perturbation,
                                                   std::span<const std::int32_t> accelerators);

}  // namespace headway
