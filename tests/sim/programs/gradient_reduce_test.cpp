#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/small_job.h"

namespace headway {
namespace {

TEST(GradientReduce, WithoutOverlapTravelsWholeOrByBuckets) {
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.strategy.overlap_gradient_reduce = false;
  job.set_micro_batches(1);
  const auto joins = [&job] {
    const Program program = pipeline_program(job.shape(), 0);
    return std::ranges::count(program.operations, OperationKind::join, &Operation::kind);
  };
  EXPECT_EQ(joins(), 1);
  const double bytes = joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce);
  job.strategy.fused_gradient_reduce = false;
  EXPECT_EQ(joins(), 4);  // a layer is a bucket
  EXPECT_EQ(joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce), bytes);
  job.strategy.gradient_bucket = Bytes(8000.0);  // two layers
  EXPECT_EQ(joins(), 2);
}

// A layer has four matrices and two norms; head and last norm go with the last, the embedding with
// the first: 8, 6, 6 and 7 collectives, of which all but the first of a bucket wait for another.
TEST(GradientReduce, TensorByTensorIsACollectiveEach) {
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.reduce.latency = 1_s;
  job.set_micro_batches(1);
  const auto waited = [&job] {
    double seconds = 0.0;
    for (const Operation& operation : pipeline_program(job.shape(), 0).operations) {
      if (operation.kind == OperationKind::join) seconds += operation.at_least.count();
    }
    return seconds;
  };
  const double together = joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce);
  const double least = waited();
  job.strategy.reduce_each_tensor = true;
  EXPECT_NEAR(joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce), together, 1e-9);
  EXPECT_NEAR(waited() - least, 8 + 6 + 6 + 7 - 4, 1e-9);
}

TEST(GradientReduce, ShardedGradientsAreReducedWithEveryMicroBatch) {
  // 4,020 parameters of 4 bytes: a reduce-scatter of 4 moves 3/4 of them, three times by ZeRO-2,
  // and no more at the end of the step.
  SmallJob job(4);
  job.strategy.data_parallel = 4;
  job.strategy.sharding = Sharding::gradients;
  job.set_micro_batches(3);
  for (const bool overlap : {false, true}) {
    job.strategy.overlap_gradient_reduce = overlap;
    EXPECT_NEAR(joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce),
                3 * 0.75 * 4.0 * 4020.0, 1e-9);
  }
}

std::vector<std::int32_t> sorted_slots(const Program& program, OperationKind kind) {
  std::vector<std::int32_t> slots;
  for (const Operation& operation : program.operations) {
    if (operation.kind == kind) slots.push_back(operation.slot);
  }
  std::ranges::sort(slots);
  return slots;
}

TEST(GradientReduce, ExpertsAreReducedAndGatheredAmongThoseThatHoldThem) {
  // 200 parameters a layer on a rank, of two replicas: half of them leave in 4 bytes, half come
  // back in 2, whatever of it may be hidden.
  SmallJob job = job_of_experts(2, Sharding::optimizer);
  job.set_micro_batches(2);
  for (const double never_hidden : {0.0, 0.3}) {
    for (const bool overlap : {false, true}) {
      job.never_hidden = never_hidden;
      job.strategy.overlap_gradient_reduce = overlap;
      job.strategy.overlap_parameter_gather = overlap;
      const Program program = pipeline_program(job.shape(), 0);
      EXPECT_NEAR(joined_bytes(program, kExpertReduce), 2.0 * 0.5 * 200.0 * 4.0, 1e-9);
      EXPECT_NEAR(joined_bytes(program, kExpertGather), 2.0 * 0.5 * 200.0 * 2.0, 1e-9);
      // A message for either pass of either layer, and what is never hidden before and behind all.
      EXPECT_EQ(std::ranges::count_if(program.operations,
                                      [&](const Operation& operation) {
                                        return operation.kind == OperationKind::join &&
                                               operation.path == program.place_of(kExpertGather);
                                      }),
                !overlap             ? 1
                : never_hidden > 0.0 ? 3
                                     : 2);
      // What is gathered is waited for; of reductions, which follow each other, the last.
      const auto waited = sorted_slots(program, OperationKind::wait);
      for (const Operation& operation : program.operations) {
        if (operation.kind != OperationKind::join) continue;
        if (operation.path != program.place_of(kExpertGather)) continue;
        EXPECT_THAT(waited, testing::Contains(operation.slot).Times(1));
      }
    }
  }
}

TEST(GradientReduce, ExpertsOfEitherCopyOfADoubledPipelineAreReducedApart) {
  // A layer of each copy on a stage. Their experts are there four times: in two replicas of this
  // stage and in two of the one opposite.
  SmallJob job = job_of_experts(2, Sharding::optimizer);
  job.strategy.pipeline_parallel = 2;
  job.strategy.schedule = schedule_named("dualpipe");
  job.set_micro_batches(4);
  EXPECT_EQ(job.strategy.expert_replicas(), 4);
  for (const bool overlap : {false, true}) {
    job.strategy.overlap_gradient_reduce = overlap;
    job.strategy.overlap_parameter_gather = overlap;
    for (const int stage : {0, 1}) {
      const Program program = pipeline_program(job.shape(), stage);
      for (const bool other : {false, true}) {
        const auto named = [&](std::string_view called) {
          return other ? of_other_copy(called) : called;
        };
        EXPECT_NEAR(joined_bytes(program, named(kExpertReduce)), 0.75 * 200.0 * 4.0, 1e-9);
        EXPECT_NEAR(joined_bytes(program, named(kExpertGather)), 0.75 * 200.0 * 2.0, 1e-9);
      }
    }
  }
}

TEST(GradientReduce, WhatIsFrozenIsNotReduced) {
  // The embedding alone on the first of four stages, which adapters do not train.
  SmallJob job(2, 3);
  job.strategy.pipeline_parallel = 4;
  job.strategy.layer_placement = LayerPlacement::embedding_and_loss_as_layers;
  job.strategy.data_parallel = 2;
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 2;
  job.set_micro_batches(4);
  EXPECT_THAT(sorted_slots(pipeline_program(job.shape(), 0), OperationKind::join),
              testing::IsEmpty());
  EXPECT_THAT(sorted_slots(pipeline_program(job.shape(), 1), OperationKind::join),
              testing::SizeIs(1));
}

TEST(GradientReduce, LayersWithoutParametersSendNothing) {
  // Buckets end by time, here with every layer; the second of five has nothing to reduce.
  SmallJob job(4);
  job.model.kinds.push_back({.name = "activation", .input = 10.0, .output = 10.0});
  job.model.layers.insert(job.model.layers.begin() + 1, 1);
  job.cost.layers.resize(2, job.cost.layers[0]);
  job.strategy.data_parallel = 2;
  job.strategy.gradient_cycle = 1_s;
  job.strategy.gradient_bucket = Bytes(1e12);
  job.set_micro_batches(1);
  const Program program = pipeline_program(job.shape(), 0);
  EXPECT_EQ(std::ranges::count(program.operations, OperationKind::join, &Operation::kind), 4);
}

}  // namespace
}  // namespace headway
