#include "sim/predict/slow_link_loss.h"

#include <utility>

#include "sim/predict/what_if/bad_links.h"
#include "sim/result/breakdown.h"

namespace headway {

TimeByCause with_slow_link_loss(TimeByCause time, const Scenario& scenario, const JobRun& run,
                                std::int32_t group) {
  Perturbation drawn = scenario.perturbation;
  drawn.seed += run.median;
  const BadLinks bad_links(scenario, drawn);
  if (bad_links.none()) return time;
  MendedLinks mended = bad_links.all_mended();
  Scenario sound = scenario;
  if (mended.cluster) sound.cluster = mended.cluster;
  const Workload rebuilt = mended.cluster ? built_job(sound, *sound.strategy).workload : Workload();
  const Workload& workload = mended.cluster ? rebuilt : run.workload;
  const Timeline timeline =
      std::move(simulate_workloads({{&workload, &sound.cluster->topology, mended.perturbation}},
                                   scenario.run.engine, 1)
                    .front());
  const TimeByCause without = group_breakdown(workload, timeline, group);
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    // What is waited for others is told apart already.
    if (cause == Cause::straggler_wait || cause == Cause::pipeline_bubble) continue;
    const Seconds lost = time[cause] - without[cause];
    if (lost <= Seconds()) continue;
    time[cause] -= lost;
    time[Cause::straggler_wait] += lost;
  }
  return time;
}

}  // namespace headway
