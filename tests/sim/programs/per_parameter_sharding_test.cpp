// What full sharding copies where each parameter is a tensor of its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "sim/programs/stage_program.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Seconds of a program's blocks at a millisecond a byte of memory.
double seconds_of(const SmallJob& job) {
  JobShape shape = job.shape();
  shape.memory_seconds_per_byte = 1e-3;
  const Program program = sharded_program(shape);
  double seconds = 0.0;
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::compute) continue;
    seconds += program.blocks[static_cast<std::size_t>(operation.block)].time.total().count();
  }
  return seconds;
}

/// Four layers of 1,000 parameters, embedding and head of 10 each, on two ranks: 4 x 3 s a
/// micro-batch.
SmallJob on_two_ranks() {
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.strategy.sharding = Sharding::full;
  job.strategy.per_parameter_sharding = true;
  job.set_micro_batches(1);
  return job;
}

TEST(PerParameterSharding, CopiesWhatIsGatheredAndWhatIsReduced) {
  // 2 + 2 bytes forward, of all 4,020; 2 + 2 backward, of all but the last layer and the head,
  // 1,010, which are at hand; 2 + 4 of every gradient.
  SmallJob job = on_two_ranks();
  EXPECT_NEAR(seconds_of(job), 12.0 + 4 * 4.020 + 4 * 3.010 + 6 * 4.020, 1e-9);
  // In 16 bits 2 + 2 of a gradient.
  job.strategy.gradient_precision = Precision::bf16;
  EXPECT_NEAR(seconds_of(job), 12.0 + 4 * 4.020 + 4 * 3.010 + 4 * 4.020, 1e-9);
}

TEST(PerParameterSharding, WhatStaysIsCopiedOutOnce) {
  SmallJob job = on_two_ranks();
  job.strategy.reshard_after_forward = false;
  EXPECT_NEAR(seconds_of(job), 12.0 + 4 * 4.020 + 6 * 4.020, 1e-9);
}

TEST(PerParameterSharding, FlatParametersAndLoneRanksCopyNothing) {
  SmallJob flat = on_two_ranks();
  flat.strategy.per_parameter_sharding = false;
  EXPECT_NEAR(seconds_of(flat), 12.0, 1e-9);
  SmallJob alone = on_two_ranks();
  alone.strategy.data_parallel = 1;
  alone.set_micro_batches(1);
  EXPECT_NEAR(seconds_of(alone), 12.0, 1e-9);
}

TEST(ShardedParts, AreIssuedForEveryCollectiveOfAMatrix) {
  // Of two ranks, 10 ms a part: four matrices a layer, embedding and head, 18 x 2 x 0.01 s.
  // Gathered forward and reduced; backward gathered again, and once more where it is recomputed.
  SmallJob job = on_two_ranks();
  job.strategy.per_parameter_sharding = false;
  job.cost.sharded_part = Seconds(0.01);
  EXPECT_NEAR(seconds_of(job), 12.0 + 3 * 0.36, 1e-9);
  job.strategy.recompute = Recompute::full;
  EXPECT_NEAR(seconds_of(job), 12.0 + 4 * 0.36, 1e-9);
  job.strategy.reshard_after_forward = false;
  EXPECT_NEAR(seconds_of(job), 12.0 + 2 * 0.36, 1e-9);
}

/// How many gathers begin while a reduction that was sent before them is not waited for.
int gathers_beside_reductions(const SmallJob& job) {
  const Program program = sharded_program(job.shape());
  std::set<std::int32_t> under_way;
  int beside = 0;
  for (const Operation& operation : program.operations) {
    if (operation.kind == OperationKind::wait) under_way.erase(operation.slot);
    if (operation.kind != OperationKind::join) continue;
    if (operation.path == program.place_of(kGradientReduce)) under_way.insert(operation.slot);
    if (operation.path == program.place_of(kParameterGather) && !under_way.empty()) ++beside;
  }
  return beside;
}

// Of four pieces the last is at hand backward. Ahead, the first two are gathered with reductions of
// pieces behind them under way, the third before there is any. Not ahead, one follows the other in
// a queue (Zhao et al. 2023, section 3.3.2).
TEST(ShardedProgram, AGatherThatIsNotAheadWaitsForTheReductionBefore) {
  SmallJob job = on_two_ranks();
  job.strategy.per_parameter_sharding = false;
  EXPECT_EQ(gathers_beside_reductions(job), 2);
  job.strategy.overlap_parameter_gather = false;
  EXPECT_EQ(gathers_beside_reductions(job), 0);
}

TEST(PerParameterSharding, OnlyAdaptersHaveGradientsToCopy) {
  // Four layers with 80 parameters of adapters each.
  SmallJob job = on_two_ranks();
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 2;
  const double adapters = 0.320;
  EXPECT_NEAR(seconds_of(job),
              12.0 + 4 * (4.020 + adapters) + 4 * (3.010 + 0.75 * adapters) + 6 * adapters, 1e-9);
}

}  // namespace
}  // namespace headway
