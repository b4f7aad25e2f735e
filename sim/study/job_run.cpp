#include "sim/study/job_run.h"

#include <utility>

#include "sim/result/physical_bound.h"
#include "sim/study/interval.h"

namespace headway {
namespace {

/// Stretches what software decides: neither the network nor the order of passes.
void scale_software(Workload& workload, double factor) {
  for (Program& program : workload.programs) {
    for (Block& block : program.blocks) {
      for (const Cause cause : {Cause::compute, Cause::recompute, Cause::optimizer, Cause::other}) {
        block.time[cause] *= factor;
      }
    }
  }
}

}  // namespace

BuiltWorkload built_job(const Scenario& scenario, const Strategy& strategy) {
  const Placement placement = placement_of(strategy, scenario.placement.order);
  BuiltWorkload built =
      build_workload(scenario.model, strategy, *scenario.profile, *scenario.cluster, placement,
                     scenario.run.gradient_algorithm);
  if (scenario.software_factor != 1.0) scale_software(built.workload, scenario.software_factor);
  for (const WorkloadChange change : scenario.workload_changes) change(built.workload);
  return built;
}

JobRun run_job(const Scenario& scenario, const Strategy& strategy, int replicas, int jobs) {
  BuiltWorkload built = built_job(scenario, strategy);
  JobRun run{std::move(built.workload), built.cost, {}, 0};
  // Without anything random all replicas are one.
  const bool random = scenario.perturbation.random();
  const Topology& topology = scenario.cluster->topology;
  std::vector<SimulationTask> tasks;
  for (int i = 0; i < (random ? replicas : 1); ++i) {
    Perturbation perturbation = scenario.perturbation;
    perturbation.seed += static_cast<std::uint64_t>(i);
    tasks.push_back({&run.workload, &topology, perturbation});
  }
  run.timelines = simulate_workloads(tasks, scenario.run.engine, jobs);
  run.median = median_index(run.timelines);
  if (!scenario.workload_changes.empty()) return run;  // physics holds for whole jobs only
  for (const Timeline& timeline : run.timelines) {
    check_physical(physical_bound(scenario.model, strategy, scenario.profile->device, run.workload,
                                  timeline, topology),
                   timeline, scenario.perturbation);
  }
  return run;
}

}  // namespace headway
