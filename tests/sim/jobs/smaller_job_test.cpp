#include "sim/jobs/smaller_job.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// Sixteen replicas of four sequences each, which share states out among eight.
TEST(SmallerJob, HasAsMuchForEachReplica) {
  Strategy strategy{.data_parallel = 16, .global_batch = 64, .sharding = Sharding::full};
  strategy.shard_group = 8;
  const std::optional<Strategy> four = with_replicas(strategy, 4);
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(four->data_parallel, 4);
  EXPECT_EQ(four->global_batch, 16);
  EXPECT_EQ(four->shard_group, 4);  // no more than there are
  EXPECT_EQ(with_replicas(strategy, 8)->shard_group, 8);
  EXPECT_FALSE(with_replicas(strategy, 12).has_value());  // a group and a half
}

TEST(SmallerJob, HasRanksForAllExperts) {
  const Strategy strategy{.data_parallel = 16, .expert_parallel = 8, .global_batch = 64};
  EXPECT_TRUE(with_replicas(strategy, 8).has_value());
  EXPECT_FALSE(with_replicas(strategy, 4).has_value());
}

}  // namespace
}  // namespace headway
