#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine/simulate_workload.h"
#include "sim/programs/build_workload.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A job that was built once and simulated with each draw.
struct JobRun {
  Workload workload;
  StageCost cost;
  std::vector<double> times;  ///< by replica, in seconds
  std::size_t median = 0;     ///< of the times
  Timeline timeline;          ///< of the median replica

  [[nodiscard]] Seconds time() const { return Seconds(timeline.finish); }
};

/// Refuses, with the reason, more passes than are simulated: each is an operation of its own, of
/// half a kilobyte.
void check_passes(const Strategy& strategy);

/// The rank programs of the scenario's job split as `strategy`, with what the scenario changes in
/// them.
[[nodiscard]] BuiltWorkload built_job(const Scenario& scenario, const Strategy& strategy);

/// Simulates `replicas` draws of it, `jobs` at a time; one where nothing is random. Replicas share
/// what was built and, where they are many, leave nothing but their length. `strategy` is
/// the scenario's or a smaller one. No run is faster than physics allows: that would be a bug.
[[nodiscard]] JobRun run_job(const Scenario& scenario, const Strategy& strategy, int replicas,
                             int jobs);

}  // namespace headway
