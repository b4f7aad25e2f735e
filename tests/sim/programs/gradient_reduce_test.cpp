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

}  // namespace
}  // namespace headway
