// Jobs that read from a store, against arithmetic.
#include <gtest/gtest.h>

#include "sim/programs/joint_workload.h"
#include "tests/sim/engine/hand_workload.h"

namespace headway {
namespace {

/// Computes for so long, and no more.
Workload computing(Seconds step) { return workload_of({{FlowPlan{}, Bytes(0.0), step}}); }

/// From a store of 1 GB/s on a network of its own.
StoreReads reads(Bytes amount, int ahead) {
  return {
      .plans = {{.port_rate = 1_GBps, .ports = {kStorePort}}}, .amount = amount, .ahead = ahead};
}

struct StoreRun {
  std::vector<std::vector<double>> ends;  ///< of iterations, by job
  Timeline timeline;
};
StoreRun run_of(const std::vector<JointPart>& parts) {
  const JointWorkload joint = joint_workload(parts);
  StoreRun run{.ends = {}, .timeline = simulate_workload(joint.workload, Topology(), {})};
  for (std::size_t job = 0; job < parts.size(); ++job) {
    run.ends.push_back(
        iteration_ends(joint, job, run.timeline.first_operation, run.timeline.operation_end));
  }
  return run;
}

void expect_ends(const StoreReads& of_step, const std::vector<double>& expected) {
  const Workload job = computing(30_ms);
  const StoreRun run = run_of({{&job, static_cast<int>(expected.size()), &of_step}});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(run.ends[0][i], expected[i], 1e-12) << i;
  }
}

TEST(StoreJobs, ReadsHideBehindTheStepBefore) {
  // 20 ms before the first step of 30 ms; the next one's are there while it computes.
  expect_ends(reads(Bytes(20e6), 1), {0.050, 0.080, 0.110});
}

TEST(StoreJobs, WithoutReadingAheadStepsWaitForAllTheyRead) {
  expect_ends(reads(Bytes(20e6), 0), {0.050, 0.100, 0.150});
}

TEST(StoreJobs, ASlowStoreSetsThePace) {
  // 50 ms for each step, one after the other, and 30 ms of compute behind the last.
  for (const int ahead : {1, 2, 5}) expect_ends(reads(Bytes(50e6), ahead), {0.080, 0.130, 0.180});
}

TEST(StoreJobs, NoMoreIsReadThanMayWait) {
  // 10 ms each. Steps begin at 10, 40, 70 ms. Two may wait: three are read at once, of which the
  // first goes on to its step; the next begins when the second step has taken its own.
  const Workload job = computing(30_ms);
  const StoreReads of_step = reads(Bytes(10e6), 2);
  const StoreRun run = run_of({{&job, 4, &of_step}});
  const auto messages = run.timeline.messages_of(0);
  const std::vector<double> arrived = {0.010, 0.020, 0.030, 0.050, 0.080};
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    EXPECT_NEAR(messages[i].arrived, arrived[i], 1e-12) << i;
  }
}

TEST(StoreJobs, JobsShareAStoreByTheRatesThatTheyHaveOfItAlone) {
  // Both read 20 MB a step and compute next to nothing. One reads small files, at half the rate
  // alone: at r each the store is busy r / 1 + r / 0.5, full at a third of a gigabyte a second.
  const Workload job = computing(Seconds(1e-9));
  const StoreReads large = reads(Bytes(20e6), 1);
  StoreReads small = large;
  small.plans[0].port_rate = BytesPerSecond(0.5e9);
  const StoreRun run = run_of({{&job, 3, &large}, {&job, 3, &small}});
  for (const std::vector<double>& ends : run.ends) EXPECT_NEAR(ends[2], 0.180, 1e-8);
}

}  // namespace
}  // namespace headway
