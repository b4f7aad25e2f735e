#pragma once

#include "sim/programs/store_traffic.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// The share of an epoch's samples, after the first, that comes from storage: see input_use.h.
[[nodiscard]] double read_share(const SampleReading& reading, const Strategy& strategy,
                                const Cluster& cluster);

/// Whether reads share links with the job, or the store with its checkpoints. Else what they take
/// is known without a simulation.
[[nodiscard]] bool meets_others(const InputSettings& settings);

/// What a job of the scenario, laid out as `workload`, reads at every step from the scenario's
/// store, of which it has `share` of the samples of an epoch to read.
[[nodiscard]] StoreReads job_reads(const Scenario& scenario, const SampleReading& reading,
                                   const Strategy& strategy, const Workload& workload,
                                   double share);

/// Steps of a job that reads from a store beside its own traffic; means of settled iterations.
struct StoreSteps {
  Seconds alone;              ///< nothing is read
  Seconds reading;            ///< what is not cached
  Seconds first_epoch;        ///< everything
  Seconds beside_checkpoint;  ///< what is not cached, while a checkpoint is stored
  Seconds checkpoint;         ///< until all of it is
};

/// Simulated, with all of them drawn alike.
[[nodiscard]] StoreSteps store_steps(const Scenario& scenario, const Strategy& strategy, int jobs);

}  // namespace headway
