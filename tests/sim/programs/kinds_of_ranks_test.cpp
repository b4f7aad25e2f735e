// Programs of jobs on accelerators of several kinds.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/programs/flows/flow_plans.h"
#include "tests/support/mixed_job.h"

namespace headway {
namespace {

TEST(KindsOfRanks, AStageTakesWhatItsKindTakes) {
  // The slow stage last, it is never without work once it has the first of four micro-batches, and
  // the fast one takes the last gradient back; first, it has work all the time: the fast stage is
  // through with one, there and back, before its next forward pass ends.
  MixedJob last = two_stages({0, 1});
  const TwoLayerTimes fast = stage_times(last, last.fast, false);
  EXPECT_NEAR(
      last.closed_form_seconds() / (fast.both() + 4.0 * stage_times(last, last.slow, true).both()),
      1.0, 1e-5);
  MixedJob first = two_stages({1, 0});
  EXPECT_NEAR(first.closed_form_seconds() / (4.0 * stage_times(first, first.slow, false).both()),
              1.0, 1e-5);
}

TEST(KindsOfRanks, MicroBatchesBySpeedEndTogether) {
  // Ten at 1 and 4 time units: 8 and 2 end together.
  MixedJob job = two_replicas({0, 1});
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  EXPECT_EQ(message_slots_of(workload, 0), 2 * 8);  // a forward and a backward message for each
  EXPECT_EQ(message_slots_of(workload, 1), 2 * 2);
  MixedJob equally = two_replicas({0, 1});
  EXPECT_NEAR(job.closed_form_seconds() / equally.closed_form_seconds(), 8.0 / 20.0, 1e-4);
}

TEST(KindsOfRanks, MicroBatchesBySpeedKnowWhatIsListedAsSlow) {
  // Of one kind, but the second listed as four times as slow: 8 and 2 of ten likewise.
  MixedJob job = two_replicas({0, 0});
  job.strategy.micro_batches_by_speed = true;
  EXPECT_EQ(message_slots_of(job.workload(), 0), 2 * 5);
  const std::map<int, double> slow = {{1, 4.0}};
  const KindProfiles profiles = job.profiles();
  const Placement placement = job.placement();
  const Workload workload = build_workload({.model = job.model,
                                            .strategy = job.strategy,
                                            .profiles = profiles,
                                            .cluster = *job.cluster,
                                            .placement = placement,
                                            .slow_accelerators = &slow})
                                .workload;
  EXPECT_EQ(message_slots_of(workload, 0), 2 * 8);
  EXPECT_EQ(message_slots_of(workload, 1), 2 * 2);
}

TEST(KindsOfRanks, PipelinesBySpeedCountTheirFilling) {
  // Two stages a replica, m micro-batches end after m + 1 times what one takes: 8 and 2 of ten
  // after 9 and 12, 9 and 1 after 10 and 8.
  MixedJob job({0, 1, 0, 1});  // replicas stand on every second node
  job.strategy.pipeline_parallel = 2;
  job.strategy.data_parallel = 2;
  job.strategy.global_batch = 10;
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  std::vector<std::int32_t> slots;
  for (const RankGroup& group : workload.groups) {
    slots.push_back(workload.programs[static_cast<std::size_t>(group.program)].message_slots);
  }
  EXPECT_EQ(slots, (std::vector<std::int32_t>{18, 18, 2, 2}));
}

TEST(KindsOfRanks, ATensorGroupGoesAtThePaceOfItsSlowestMember) {
  const auto compute_of = [](std::vector<int> kinds) {
    MixedJob job(std::move(kinds));
    job.strategy.tensor_parallel = 2;
    job.model = thousand_parameter_layers(4, 2);
    TimeByCause sum;
    for (const Block& block : job.workload().programs.front().blocks) sum += block.time;
    return sum[Cause::compute].count();
  };
  EXPECT_DOUBLE_EQ(compute_of({0, 1}), compute_of({1, 1}));
  EXPECT_DOUBLE_EQ(compute_of({1, 0}), compute_of({1, 1}));
  EXPECT_NEAR(compute_of({1, 1}) / compute_of({0, 0}), kSlower, 1e-9);
}

TEST(KindsOfRanks, ClosedFormsWaitForTheSlowerOfTwoDraws) {
  // Of two lognormal draws the larger has its median where one has the quantile of 2^-1/2, at
  // 0.544952 sigma: of devices, and of every block on both ranks of a tensor-parallel group.
  MixedJob job({0, 0});
  job.strategy.tensor_parallel = 2;
  job.model = thousand_parameter_layers(4, 2);
  const double nominal = job.closed_form_seconds();
  const Perturbation drawn{.device_spread = 0.2, .jitter = {.spread = 0.1}};
  const double seconds = closed_form_iteration(job.model, job.strategy, job.profiles(),
                                               *job.cluster, job.placement(), drawn)
                             .count();
  EXPECT_NEAR(seconds / nominal, std::exp((0.2 + 0.1) * 0.544952), 1e-5);
}

TEST(KindsOfRanks, EveryReplicaHasAMicroBatch) {
  // Two micro-batches in all: one each, though the fast replica would be through with both first.
  MixedJob job = two_replicas({0, 1});
  job.strategy.global_batch = 2;
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  for (const Program& program : workload.programs) EXPECT_EQ(program.message_slots, 2);
}

TEST(KindsOfRanks, ReplicasOfOneKindShareMicroBatchesEqually) {
  MixedJob job = two_replicas({0, 0});
  job.strategy.micro_batches_by_speed = true;
  for (const Program& program : job.workload().programs) EXPECT_EQ(program.message_slots, 2 * 5);
}

TEST(KindsOfRanks, GradientsTravelAtTheRateOfTheSlowestNic) {
  // A ring of two sends 2 (2-1)/2 = 1 message each way: 1 GB over 5 GB/s.
  MixedJob job = two_replicas({0, 1});
  job.slow_nic = "5 GB/s";
  const Workload workload = job.workload();
  ASSERT_EQ(workload.communicators.size(), 1U);
  const auto plan = static_cast<std::size_t>(workload.communicators.front().plan);
  EXPECT_NEAR(idle_time(workload.plans[plan], job.cluster->topology, Bytes(1e9)).count(), 0.2,
              1e-9);
}

}  // namespace
}  // namespace headway
