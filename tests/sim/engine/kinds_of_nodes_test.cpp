// Jobs on accelerators of several kinds, simulated, against what hand arithmetic says of them.
#include <gtest/gtest.h>

#include "tests/sim/engine/single_iteration.h"
#include "tests/support/mixed_job.h"

namespace headway {
namespace {

double seconds(MixedJob& job) {
  const Workload workload = job.workload();
  return simulate_workload(workload, job.cluster->topology, {}, {}).finish;
}

TEST(KindsOfNodes, ASlowLastStageIsNeverWithoutWork) {
  // Four micro-batches. The slow stage gets the first one after f0 and has the next ready whenever
  // it is through with one (f0 < f1 + b1); the fast one then takes the last gradient back:
  //   f0 + 4 (f1 + b1) + b0
  MixedJob job = two_stages({0, 1});
  const TwoLayerTimes first = stage_times(job, job.fast, false);
  const TwoLayerTimes last = stage_times(job, job.slow, true);
  const double expected = first.forward + 4.0 * last.both() + first.backward;
  EXPECT_NEAR(seconds(job) / expected, 1.0, 1e-5);
  EXPECT_NEAR(job.closed_form_seconds() / expected, 1.0, 1e-5);
}

TEST(KindsOfNodes, ASlowFirstStageIsNeverWithoutWork) {
  // The fast stage is through with a micro-batch, there and back, before the slow one is through
  // with its next forward pass (f1 + b1 = 3 f1 < 4 f1 = f0): all of the iteration is the slow
  // stage's own work, 4 (f0 + b0).
  MixedJob job = two_stages({1, 0});
  const TwoLayerTimes first = stage_times(job, job.slow, false);
  const double expected = 4.0 * first.both();
  EXPECT_NEAR(seconds(job) / expected, 1.0, 1e-5);
  EXPECT_NEAR(job.closed_form_seconds() / expected, 1.0, 1e-5);
}

TEST(KindsOfNodes, FewerLayersForTheSlowStageEvenThemOut) {
  // 3 : 1 layers on 1 : 4 of speed: the slow stage takes 4 layers' worth of time, not 8.
  MixedJob job = two_stages({0, 1});
  const double even = seconds(job);
  job.strategy.layers_per_stage = {3, 1};
  EXPECT_LT(seconds(job), 0.6 * even);
}

TEST(KindsOfNodes, ReplicasWaitForTheSlowest) {
  // Five micro-batches on the slow one.
  MixedJob alone = two_replicas({1, 1});
  MixedJob mixed = two_replicas({0, 1});
  EXPECT_NEAR(seconds(mixed) / seconds(alone), 1.0, 1e-5);
}

TEST(KindsOfNodes, MicroBatchesBySpeedEndTogether) {
  // Ten micro-batches at 1 and 4 time units: 8 and 2 end together, after 8 units instead of 20.
  MixedJob job = two_replicas({0, 1});
  const double equally = seconds(job);
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  EXPECT_EQ(message_slots_of(workload, 0), 2 * 8);  // a forward and a backward message for each
  EXPECT_EQ(message_slots_of(workload, 1), 2 * 2);
  EXPECT_NEAR(seconds(job) / equally, 8.0 / 20.0, 1e-4);
  EXPECT_NEAR(job.closed_form_seconds() / seconds(job), 1.0, 1e-9);
}

}  // namespace
}  // namespace headway
