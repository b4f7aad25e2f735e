#include <gtest/gtest.h>

#include <algorithm>

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

TEST(GradientReduce, ShardedGradientsAreReducedWithEveryMicroBatch) {
  // 4,020 parameters of 4 bytes: a reduce-scatter of 4 moves 3/4 of them, three times by ZeRO-2, and
  // no more at the end of the step.
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

}  // namespace
}  // namespace headway
