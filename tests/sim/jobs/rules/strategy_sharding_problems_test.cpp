// Problems of sharded states, by their full text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;

TEST(StrategyProblem, FullShardingGoesWithAPipelineWhereParametersStay) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 3,
    "reshard_after_forward": false,
    "pipeline_parallel": 2,
    "global_batch": 64)"),
            "");
}

TEST(StrategyProblem, CopiesOfShardedParametersTakeNoPipeline) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 3,
    "reshard_after_forward": false,
    "pipeline_parallel": 2,
    "data_parallel": 32,
    "shard_group": 8,
    "global_batch": 64)"),
            R"(error: copies of sharded parameters do not go with a pipeline
  --> scenario.json:13:20   /strategy/shard_group
   |
13 |     "shard_group": 8,
   |                    ^ 8 of 32 ranks
   |
  ::: scenario.json:11:26   /strategy/pipeline_parallel is 2
  help: leave shard_group out
)");
}

TEST(StrategyProblem, StagesThatShareParametersAreNotShardedBesides) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 3,
    "reshard_after_forward": false,
    "pipeline_parallel": 2,
    "schedule": "dualpipe",
    "global_batch": 256)"),
            R"(error: zero_stage 3 does not go with the schedule "dualpipe"
  --> scenario.json:9:19   /strategy/zero_stage
   |
 9 |     "zero_stage": 3,
   |                   ^ its stages share parameters with the opposite ones
   |
  ::: scenario.json:12:17   /strategy/schedule is "dualpipe"
  help: use zero_stage 1
)");
}

TEST(StrategyProblem, FullShardingTakesNoPipelineThatReshards) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 3,
    "pipeline_parallel": 2,
    "global_batch": 64)"),
            R"(error: zero_stage 3 does not go with a pipeline where layers give their parameters up
  --> scenario.json:9:19   /strategy/zero_stage
   |
 9 |     "zero_stage": 3,
   |                   ^ a pipeline of 2 stages
   |
  ::: scenario.json:10:26   /strategy/pipeline_parallel is 2
  help: set reshard_after_forward to false: each micro-batch would gather every layer of its stage anew; or use zero_stage 1
)");
}

TEST(StrategyProblem, ThePresetIsBlamedForWhatItSets) {
  EXPECT_EQ(problems(kLlama3, R"(    "preset": "pytorch-fsdp",
    "pipeline_parallel": 2,
    "global_batch": 64)"),
            R"(error: zero_stage 3 does not go with a pipeline where layers give their parameters up
  --> scenario.json:9:15   /strategy/preset
   |
 9 |     "preset": "pytorch-fsdp",
   |               ^^^^^^^^^^^^^^ a pipeline of 2 stages
   |
  ::: scenario.json:10:26   /strategy/pipeline_parallel is 2
  help: set reshard_after_forward to false: each micro-batch would gather every layer of its stage anew; or use zero_stage 1
)");
}

TEST(StrategyProblem, ShardedGradientsTakeNoPipeline) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 2,
    "pipeline_parallel": 2,
    "global_batch": 64)"),
            R"(error: zero_stage 2 does not go with a pipeline
  --> scenario.json:9:19   /strategy/zero_stage
   |
 9 |     "zero_stage": 2,
   |                   ^ a pipeline of 2 stages
   |
  ::: scenario.json:10:26   /strategy/pipeline_parallel is 2
  help: use zero_stage 1: each micro-batch would reduce every layer of its stage anew; or set pipeline_parallel to 1
)");
}

TEST(StrategyProblem, ShardGroupsShareOutTheOptimizerOrEverything) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 2,
    "shard_group": 8,
    "global_batch": 64)"),
            R"(error: shard_group needs zero_stage 1 or 3
  --> scenario.json:10:20   /strategy/shard_group
   |
10 |     "shard_group": 8,
   |                    ^ no group of ranks shares it out
   |
  ::: scenario.json:9:19   /strategy/zero_stage is 2
  help: set zero_stage to 1 or 3, or leave shard_group out
)");
}

TEST(StrategyProblem, WholeTensorsAreSharesOfTheOptimizerAlone) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 2,
    "optimizer_shards": "tensors",
    "global_batch": 64)"),
            R"(error: optimizer_shards needs zero_stage 1
  --> scenario.json:10:25   /strategy/optimizer_shards
   |
10 |     "optimizer_shards": "tensors",
   |                         ^^^^^^^^^ gradients or parameters are cut into slices as well
   |
  ::: scenario.json:9:19   /strategy/zero_stage is 2
  help: set zero_stage to 1, or leave optimizer_shards out
)");
}

TEST(StrategyProblem, GathersInFewerBitsSayWhatIsMissing) {
  EXPECT_EQ(
      problems(kLlama3, R"(    "zero_stage": 1,
    "quantised_parameter_gathers": true,
    "precision": "bf16",
    "global_batch": 64)"),
      R"(error: quantised_parameter_gathers needs precision below 16 bits that has no scale for each row
  --> scenario.json:10:36   /strategy/quantised_parameter_gathers
   |
10 |     "quantised_parameter_gathers": true,
   |                                    ^^^^ products take what is gathered in 16 bits
   |
  ::: scenario.json:11:18   /strategy/precision is "bf16"
  help: set precision to one below 16 bits, such as "fp8_current", or leave quantised_parameter_gathers out
)");
  EXPECT_THAT(problems(kLlama3, R"(    "zero_stage": 0,
    "quantised_parameter_gathers": true,
    "precision": "bf16",
    "global_batch": 64)"),
              ::testing::HasSubstr("quantised_parameter_gathers needs zero_stage 1, 2 or 3\n"));
}

TEST(StrategyProblem, StagesThatShareParametersHaveOneGroup) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 1,
    "shard_group": 4,
    "pipeline_parallel": 2,
    "schedule": "dualpipe",
    "data_parallel": 8,
    "global_batch": 256)",
                     16),
            R"(error: groups that share out the optimizer do not go with the schedule "dualpipe"
  --> scenario.json:10:20   /strategy/shard_group
   |
10 |     "shard_group": 4,
   |                    ^ its stages share parameters with the opposite ones
   |
  ::: scenario.json:12:17   /strategy/schedule is "dualpipe"
  help: leave shard_group out
)");
}

TEST(StrategyProblem, ShardGroupsAreWholeContextGroupsAndDivideTheReplicas) {
  EXPECT_EQ(
      problems(kLlama3, R"(    "zero_stage": 3,
    "shard_group": 3,
    "context_parallel": 2,
    "data_parallel": 8,
    "global_batch": 64)",
               16),
      R"(error: shard_group must divide data_parallel x context_parallel and be a multiple of the latter
  --> scenario.json:10:20   /strategy/shard_group
   |
10 |     "shard_group": 3,
   |                    ^ 3 of 8 x 2 = 16 ranks
   |
  ::: scenario.json:12:22   /strategy/data_parallel is 8
  ::: scenario.json:11:25   /strategy/context_parallel is 2
  help: use 2 or 4
)");
}

TEST(StrategyProblem, GroupsOfTheOptimizerAreNotLargerThanAllReplicas) {
  EXPECT_EQ(
      problems(kLlama3, R"(    "zero_stage": 1,
    "shard_group": 32,
    "data_parallel": 16,
    "global_batch": 64)",
               16),
      R"(error: shard_group must divide data_parallel x context_parallel and be a multiple of the latter
  --> scenario.json:10:20   /strategy/shard_group
   |
10 |     "shard_group": 32,
   |                    ^^ 32 of 16 x 1 = 16 ranks
   |
  ::: scenario.json:11:22   /strategy/data_parallel is 16
  help: use 16
)");
}

}  // namespace
}  // namespace headway
