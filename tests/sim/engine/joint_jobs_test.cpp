#include <gtest/gtest.h>

#include "sim/programs/joint_workload.h"
#include "tests/sim/engine/hand_workload.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

const Topology kStar = star({0_s, 0_s, 0_s});

/// Computes for `before`, then sends from endpoint 0 to 1, alone in 20 ms for each gigabyte.
Workload sender(Seconds before, Bytes amount = 1_GB) {
  return workload_of({{across(kStar, 0, 1), amount, before}});
}

/// The ends of all iterations of all jobs.
std::vector<std::vector<double>> ends_of(const std::vector<JointPart>& parts,
                                         const Topology& topology) {
  const JointWorkload joint = joint_workload(parts);
  const Timeline timeline = simulate_workload(joint.workload, topology, {});
  std::vector<std::vector<double>> ends;
  for (std::size_t job = 0; job < parts.size(); ++job) {
    ends.push_back(iteration_ends(joint, job, timeline.first_operation, timeline.operation_end));
  }
  return ends;
}

TEST(JointJobs, EqualJobsOnOneLinkStandInLine) {
  // M jobs that compute p and then need the link for c alone: all compute at once, and each has an
  // M-th of the link: p + M c an iteration.
  const Workload job = sender(30_ms);
  for (const int jobs : {1, 2, 3, 5, 8}) {
    const std::vector<JointPart> parts(static_cast<std::size_t>(jobs), JointPart{&job, 3});
    for (const std::vector<double>& ends : ends_of(parts, kStar)) {
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(ends[static_cast<std::size_t>(i)], (i + 1) * (0.030 + jobs * 0.020), 1e-12);
      }
    }
  }
}

TEST(JointJobs, AJobThatComputesLeavesTheLinkToTheOthers) {
  // The first sends from 0 on, the second from 10 ms on: half a gigabyte of the first is gone by
  // then, the other half takes 20 ms at half the rate, until 30 ms. The second has sent half by
  // then, alone it needs 10 ms more.
  const Workload first = sender(0_s);
  const Workload second = sender(10_ms);
  const auto ends = ends_of({{&first, 1}, {&second, 1}}, kStar);
  EXPECT_NEAR(ends[0][0], 0.030, 1e-12);
  EXPECT_NEAR(ends[1][0], 0.040, 1e-12);
}

TEST(JointJobs, PortsAreThoseOfAJobsOwnAccelerators) {
  // Two flows of 1 GB share a port of 100 GB/s: 20 ms, and the other job's two have one of theirs.
  const FlowPlan inside{.rate_cap = 100_GBps, .port_rate = 100_GBps, .ports = {0}};
  const Workload job = workload_of({{inside, 1_GB}, {inside, 1_GB}});
  for (const std::vector<double>& ends : ends_of({{&job, 1}, {&job, 1}}, kStar)) {
    EXPECT_NEAR(ends[0], 0.020, 1e-12);
  }
}

TEST(JointJobs, AlternatingJobsDoNotMeet) {
  // Both compute and send for 20 ms in turn; the second begins with half a period more of compute:
  // no two ever send at once.
  const Workload even = sender(20_ms);
  Workload odd = sender(20_ms);
  odd.programs[0].operations.insert(odd.programs[0].operations.begin(),
                                    odd.programs[0].operations.front());
  const auto ends = ends_of({{&even, 2}, {&odd, 1}}, kStar);
  EXPECT_NEAR(ends[0][0], 0.040, 1e-12);
  EXPECT_NEAR(ends[0][1], 0.080, 1e-12);
  EXPECT_NEAR(ends[1][0], 0.060, 1e-12);
}

TEST(JointJobs, AWholeJobRepeatsItselfUndisturbed) {
  // Two stages, two replicas, with messages and reductions: without links nobody meets anybody, so
  // n iterations take n times one, whoever else is there.
  SmallJob job(4);
  job.strategy.pipeline_parallel = 2;
  job.strategy.data_parallel = 2;
  job.set_micro_batches(3);
  job.strategy.overlap_gradient_reduce = false;
  job.transfer.rate_cap = 1_GBps;
  job.reduce.rate_cap = BytesPerSecond(4000.0);
  job.gather.rate_cap = BytesPerSecond(4000.0);
  const Workload one = job.workload();
  const double alone = simulate_workload(one, Topology(), {}).finish;
  const auto ends = ends_of({{&one, 3}, {&one, 2}}, Topology());
  EXPECT_NEAR(ends[0][0], alone, 1e-9);
  EXPECT_NEAR(ends[1][0], alone, 1e-9);
  // An early stage begins its next iteration while a late one still is at this one.
  EXPECT_LE(ends[0][2], 3.0 * alone * (1.0 + 1e-9));
  EXPECT_GT(ends[0][2], 2.0 * alone);
  EXPECT_EQ(ends[0][1], ends[1][1]);
}

}  // namespace
}  // namespace headway
