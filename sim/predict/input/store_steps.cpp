#include "sim/predict/input/store_steps.h"

#include <algorithm>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/predict/input/page_cache.h"
#include "sim/predict/job_run.h"
#include "sim/programs/joint_workload.h"

namespace headway {
namespace {

/// More steps waiting do not change how steps settle that are alike.
constexpr int kMostAhead = 8;
constexpr std::size_t kCounted = 8;  ///< the last iterations

Store store_of(const Scenario& scenario, const NetworkCosts& network) {
  return {.cluster = *scenario.cluster, .network = network, .hosts = scenario.input->storage_nodes};
}

/// Ends of iterations of each job.
using JobEnds = std::vector<std::vector<double>>;

class StoreStudy {
 public:
  StoreStudy(const Scenario& scenario, const Strategy& strategy, int jobs)
      : scenario_(scenario),
        settings_(*scenario.input),
        strategy_(strategy),
        jobs_(jobs),
        workload_(built_job(scenario, strategy).workload),
        iterations_(static_cast<int>(kCounted) + 2 * std::min(settings_.prefetch, kMostAhead) + 2) {
  }

  [[nodiscard]] StoreSteps steps() const {
    const double share = read_share(settings_, strategy_, *scenario_.cluster);
    StoreSteps steps{.alone = step_reading(0.0), .reading = step_reading(share)};
    steps.first_epoch = share < 1.0 ? step_reading(1.0) : steps.reading;
    if (settings_.holds_checkpoints) beside_checkpoint(share, steps);
    return steps;
  }

 private:
  [[nodiscard]] JobEnds ends_of(std::span<const JointPart> parts) const {
    const JointWorkload joint = joint_workload(parts);
    const std::vector<Timeline> timelines = simulate_workloads(
        {{&joint.workload, &scenario_.cluster->topology, scenario_.perturbation}},
        scenario_.run.engine, jobs_);
    JobEnds ends;
    for (std::size_t job = 0; job < parts.size(); ++job) {
      ends.push_back(iteration_ends(joint, job, timelines.front().first_operation,
                                    timelines.front().operation_end));
    }
    return ends;
  }

  static Seconds settled(const std::vector<double>& ends) {
    return Seconds((ends.back() - ends[ends.size() - 1 - kCounted]) / kCounted);
  }

  [[nodiscard]] StoreReads reads(double share) const {
    return job_reads(scenario_, settings_, strategy_, workload_, share);
  }

  [[nodiscard]] Seconds step_reading(double share) const {
    const StoreReads of_step = reads(share);
    const JointPart part{&workload_, iterations_, &of_step};
    return settled(ends_of({&part, 1}).front());
  }

  /// The checkpoint in as many pieces as there are steps, of a step each or as much longer as it
  /// takes to last through all of them.
  void beside_checkpoint(double share, StoreSteps& steps) const {
    const CheckpointSettings& checkpoint = scenario_.reliability->checkpoint;
    const BytesPerSecond most = checkpoint.size / checkpoint.persisting;
    const NetworkCosts network = ideal_network_costs(scenario_.cluster->node_type);
    const StoreReads of_step = reads(share);
    for (Bytes piece = most * steps.reading;; piece *= 2.0) {
      const Workload writes =
          store_writes(workload_, store_of(scenario_, network), piece, settings_.storage, most);
      const std::vector<JointPart> parts{{&workload_, iterations_, &of_step},
                                         {&writes, iterations_}};
      const JobEnds ends = ends_of(parts);
      const std::vector<double>& written = ends.back();
      const double over = ends.front().back();
      if (written.back() < over) continue;
      const auto pieces =
          std::max<std::ptrdiff_t>(1, std::ranges::upper_bound(written, over) - written.begin());
      const double each =
          written[static_cast<std::size_t>(pieces) - 1] / static_cast<double>(pieces);
      steps.beside_checkpoint = settled(ends.front());
      steps.checkpoint = checkpoint.size / piece * Seconds(each);
      return;
    }
  }

  const Scenario& scenario_;
  const InputSettings& settings_;
  const Strategy& strategy_;
  int jobs_;
  Workload workload_;
  int iterations_;
};

}  // namespace

double read_share(const SampleReading& reading, const Strategy& strategy, const Cluster& cluster) {
  const int of_node = cluster.node_type.accelerators;
  const int nodes = (strategy.ranks() + of_node - 1) / of_node;
  const double cached = std::min(1.0, reading.cache / reading.data_set());
  return reading.scope == CacheScope::job
             ? std::max(0.0, 1.0 - nodes * cached)
             : read_share({.cached_share = cached, .part = 1.0 / nodes});
}

bool meets_others(const InputSettings& settings) {
  return settings.storage_nodes > 0 || settings.holds_checkpoints;
}

StoreReads job_reads(const Scenario& scenario, const SampleReading& reading,
                     const Strategy& strategy, const Workload& workload, double share) {
  const NetworkCosts network = ideal_network_costs(scenario.cluster->node_type);
  return store_reads(workload, store_of(scenario, network),
                     share * static_cast<double>(strategy.global_batch) * reading.sample,
                     scenario.input->rate_for(reading), std::min(reading.prefetch, kMostAhead));
}

StoreSteps store_steps(const Scenario& scenario, const Strategy& strategy, int jobs) {
  return StoreStudy(scenario, strategy, jobs).steps();
}

}  // namespace headway
