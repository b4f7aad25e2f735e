#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// A draw of a scenario's job with so many data-parallel replicas.
struct DrawOfJob {
  std::int32_t data_parallel = 1;
  std::int32_t number = 0;  ///< counted from the scenario's seed
  double software_factor = 1.0;
};

/// Has draws done by other processes, by `draw_length`, and returns their lengths in order, in
/// seconds.
using DrawsElsewhere = std::function<std::vector<double>(const std::vector<DrawOfJob>&)>;

/// Refuses, with the reason, more passes than are simulated: each is an operation of its own, of
/// half a kilobyte.
void check_passes(const Strategy& strategy);

/// The rank programs of the scenario's job split as `strategy`, with what the scenario changes in
/// them.
[[nodiscard]] BuiltWorkload built_job(const Scenario& scenario, const Strategy& strategy);

/// Simulates `replicas` draws of it, `jobs` at a time; one where nothing is random. Replicas share
/// what was built and, where they are many, leave nothing but their length. `strategy` is
/// the scenario's or a smaller one. No run is faster than physics allows: that would be a bug.
/// `elsewhere`, if there is one, does several draws of it instead. `first_draw`: how many seconds
/// the first one takes, where that is known (SimulateOptions).
[[nodiscard]] JobRun run_job(const Scenario& scenario, const Strategy& strategy, int replicas,
                             int jobs, const DrawsElsewhere& elsewhere = {},
                             std::optional<double> first_draw = {});

/// The median length of the same, of which nothing else is kept.
[[nodiscard]] Seconds job_time(const Scenario& scenario, const Strategy& strategy, int replicas,
                               int jobs, const DrawsElsewhere& elsewhere = {});

/// The length of one draw of a scenario's job or a smaller one, in seconds.
[[nodiscard]] double draw_length(Scenario scenario, const DrawOfJob& draw);

}  // namespace headway
