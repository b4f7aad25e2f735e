#pragma once

#include <vector>

#include "sim/network/topology.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// Who shares out the links. The first two are exact max-min and agree; the incremental solver is
/// what makes large coupled jobs fast. The third shares them as switches do that pause whole links
/// (`MaxMinShares::pause_upstream`), and works everything out anew whenever a flow comes or goes.
enum class FlowEngine { incremental, simgrid, paused };

struct EngineOptions {
  FlowEngine flows = FlowEngine::incremental;
  bool fold_equal_links = true;   ///< see link_usage.h; off only to show that it changes nothing
  bool fold_alike_groups = true;  ///< see folded_job.h; likewise
};

/// One iteration to be simulated. What is pointed to outlives the call.
struct SimulationTask {
  const Workload* workload = nullptr;
  const Topology* topology = nullptr;
  Perturbation perturbation;
};

/// Simulates iterations with SimGrid, in forked children, `jobs` at a time; in this process where
/// it is a child already and only one at a time is asked for. Deterministic: the same arguments
/// give the same bytes, at any `jobs`. Throws InternalError if programs deadlock or a child dies,
/// EnvironmentError if none can be made.
[[nodiscard]] std::vector<Timeline> simulate_workloads(const std::vector<SimulationTask>& tasks,
                                                       const EngineOptions& options, int jobs);

/// The same where only the length of each iteration is asked for, in seconds: nothing else goes
/// through the pipes, so that hundreds of draws of a large job are cheap.
[[nodiscard]] std::vector<double> simulated_times(const std::vector<SimulationTask>& tasks,
                                                  const EngineOptions& options, int jobs);

}  // namespace headway
