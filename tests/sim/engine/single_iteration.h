#pragma once

#include <utility>

#include "sim/engine/simulate_workload.h"

namespace headway {

/// One iteration of one job.
inline Timeline simulate_workload(const Workload& workload, const Topology& topology,
                                  const Perturbation& perturbation,
                                  const EngineOptions& options = {}) {
  return std::move(simulate_workloads({{&workload, &topology, perturbation}}, options, 1).front());
}

}  // namespace headway
