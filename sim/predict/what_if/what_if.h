#pragma once

#include "sim/predict/job_run.h"
#include "sim/result/what_if.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// How much is asked.
enum class WhatIfExtent {
  none,
  stragglers,  ///< what slowness costs and what to do about it; of places the slowest of each kind
  everything   ///< more places, and what else would help
};

/// Runs the median replica of `run` again, `jobs` simulations at a time: without one source of
/// slowness after another, and with one thing after another of the machine and the job improved.
/// `run` is the scenario's, made by `run_job`; its workload is shared by all runs that only remove
/// slowness of ranks. Only the few nodes, stages, replicas and rank groups that are slowest are
/// tried: those whose accelerators exceed the typical time factor most. All times hold what steps
/// wait for their samples then, each at the share of its own nodes that is cached now.
[[nodiscard]] WhatIf what_if(const Scenario& scenario, const JobRun& run, int jobs,
                             WhatIfExtent extent = WhatIfExtent::everything);

}  // namespace headway
