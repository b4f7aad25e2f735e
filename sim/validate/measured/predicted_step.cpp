#include "sim/validate/measured/predicted_step.h"

#include <utility>
#include <vector>

#include "sim/base/quantile.h"
#include "sim/engine/simulate_workload.h"
#include "sim/validate/measured/step_workload.h"

namespace headway {

Seconds predicted_step_time(const TrainingStep& step, int ranks, const Profile& profile, int jobs) {
  // Without jitter all runs are alike.
  const int runs = step.jitter > 0.0 ? step.steps : 1;
  std::vector<StepWorkload> workloads;
  for (int index = 0; index < runs; ++index) {
    workloads.push_back(step_workload(step, ranks, profile, index));
  }
  std::vector<SimulationTask> tasks;
  for (const StepWorkload& workload : workloads) {
    tasks.push_back({&workload.workload, &workload.topology, {}});
  }
  std::vector<double> times;
  for (const Timeline& timeline : simulate_workloads(tasks, {}, jobs)) {
    times.push_back(timeline.finish);
  }
  return Seconds(median(std::move(times)));
}

}  // namespace headway
