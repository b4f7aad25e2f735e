#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/engine/single_iteration.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

const Perturbation kUnequal{.seed = 5,
                            .micro_batches = {.kind = Jitter::Kind::exponential, .spread = 0.5}};

/// Four layers of 3 s for each micro-batch, transfers and collectives in no time.
SmallJob job(int stages, int replicas, int micro_batches) {
  SmallJob made(4);
  made.strategy.pipeline_parallel = stages;
  made.strategy.data_parallel = replicas;
  made.set_micro_batches(micro_batches);
  return made;
}

double finish(const SmallJob& made, const Perturbation& perturbation) {
  return simulate_workload(made.workload(), Topology(), perturbation).finish;
}

TEST(MicroBatchJitter, AReplicaTakesTheSumOfItsMicroBatches) {
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) sum += 12.0 * micro_batch_factor(kUnequal, 0, i);
  EXPECT_NEAR(finish(job(1, 1, 3), kUnequal), sum, 1e-9);
}

TEST(MicroBatchJitter, AllStagesHaveTheSameWork) {
  // A single micro-batch goes through both stages and back: 12 s times its factor.
  EXPECT_NEAR(finish(job(2, 1, 1), kUnequal), 12.0 * micro_batch_factor(kUnequal, 0, 0), 1e-9);
}

TEST(MicroBatchJitter, TheReplicaWithTheLongestSequencesIsWaitedFor) {
  double longest = 0.0;
  for (int replica = 0; replica < 4; ++replica) {
    double sum = 0.0;
    for (int i = 0; i < 2; ++i) sum += 12.0 * micro_batch_factor(kUnequal, replica, i);
    longest = std::max(longest, sum);
  }
  EXPECT_NEAR(finish(job(1, 4, 2), kUnequal), longest, 1e-9);
}

TEST(MicroBatchJitter, NoSpreadIsNoDifferenceToTheLastBit) {
  const Perturbation none{.micro_batches = {.kind = Jitter::Kind::gamma, .spread = 0.0}};
  EXPECT_TRUE(none.none());
  EXPECT_EQ(finish(job(2, 2, 4), none), finish(job(2, 2, 4), {}));
  EXPECT_TRUE(kUnequal.random());
  EXPECT_EQ(micro_batch_factor(kUnequal, 0, -1), 1.0);  // the optimizer, say
}

}  // namespace
}  // namespace headway
