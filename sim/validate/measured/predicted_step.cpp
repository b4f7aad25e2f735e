#include "sim/validate/measured/predicted_step.h"

#include <utility>
#include <vector>

#include "sim/base/quantile.h"
#include "sim/engine/simulate_workload.h"
#include "sim/programs/build_workload.h"
#include "sim/validate/measured/ordered_messages.h"
#include "sim/validate/measured/step_job.h"

namespace headway {
namespace {

/// What makes the ranks of the `index`-th run differ.
Perturbation drawn_factors(const TrainingStep& step, int ranks, int index) {
  Perturbation perturbation;
  for (int rank = 0; rank < ranks; ++rank) {
    const double factor = compute_factor(step, rank, index);
    if (factor != 1.0) perturbation.slow_accelerators[rank] = factor;
  }
  return perturbation;
}

}  // namespace

Seconds predicted_step_time(const TrainingStep& step, int ranks, const Profile& profile, int jobs) {
  StepJob job;
  fill_step_job(job, step, ranks, profile);
  const Workload workload = build_workload({job.model, job.strategy, job.profile, job.cluster,
                                            job.placement, std::nullopt})
                                .workload;
  // Without jitter all runs are alike.
  const int runs = step.jitter > 0.0 ? step.steps : 1;
  std::vector<Workload> workloads(static_cast<std::size_t>(runs), workload);
  std::vector<SimulationTask> tasks;
  for (int index = 0; index < runs; ++index) {
    Workload& run = workloads[static_cast<std::size_t>(index)];
    const Perturbation perturbation = drawn_factors(step, ranks, index);
    if (step.pipeline_stages > 1) {
      const Bytes burst = job.profile.scale_out.burst.value_or(Bytes(0.0));
      order_messages(run, {.rate = job.message_rate, .burst = burst}, perturbation);
    }
    tasks.push_back({&run, &job.cluster.topology, perturbation});
  }
  return Seconds(median(simulated_times(tasks, {}, jobs)));
}

}  // namespace headway
