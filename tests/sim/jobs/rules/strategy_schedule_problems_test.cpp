// Problems of schedules, of placed layers and of scattered heads, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;

TEST(StrategyProblem, SplitSchedulesNeedAPipeline) {
  EXPECT_EQ(problems(kLlama3, R"(    "schedule": "zb_h1",
    "global_batch": 64)"),
            R"(error: zb_h1 needs a pipeline
  --> scenario.json:9:17   /strategy/schedule
   |
 9 |     "schedule": "zb_h1",
   |                 ^^^^^^^ the only stage
  help: set pipeline_parallel to 2 or more, or schedule to "1f1b"
)");
}

TEST(StrategyProblem, SplitSchedulesFixTheChunks) {
  EXPECT_EQ(problems(kLlama3, R"(    "schedule": "zb_v",
    "pipeline_parallel": 2,
    "virtual_stages": 4,
    "global_batch": 64)"),
            R"(error: zb_v has 2 of virtual_stages
  --> scenario.json:11:23   /strategy/virtual_stages
   |
11 |     "virtual_stages": 4,
   |                       ^ 4 chunks a stage
   |
  ::: scenario.json:9:17   /strategy/schedule is "zb_v"
  help: set virtual_stages to 2, or leave it out
)");
}

TEST(StrategyProblem, ADoubledPipelineHasAnEvenNumberOfStages) {
  EXPECT_EQ(problems(kLlama3, R"(    "schedule": "dualpipe",
    "pipeline_parallel": 3,
    "global_batch": 64)"),
            R"(error: dualpipe needs an even number of stages
  --> scenario.json:10:26   /strategy/pipeline_parallel
   |
10 |     "pipeline_parallel": 3,
   |                          ^ 3 stages
   |
  ::: scenario.json:9:17   /strategy/schedule is "dualpipe"
  help: use 2 or 4
)");
}

TEST(StrategyProblem, SplitSchedulesNeedMicroBatches) {
  EXPECT_EQ(problems(kLlama3, R"(    "schedule": "zb_v",
    "pipeline_parallel": 4,
    "data_parallel": 2,
    "global_batch": 12)",
                     8),
            R"(error: zb_v needs 2 pipeline_parallel - 1 micro-batches at least
  --> scenario.json:9:17   /strategy/schedule
   |
 9 |     "schedule": "zb_v",
   |                 ^^^^^^ 6 micro-batches over 4 stages
   |
  ::: scenario.json:12:21   /strategy/global_batch is 12
  ::: scenario.json:10:26   /strategy/pipeline_parallel is 4
  help: use a global_batch of 14, or schedule "1f1b"
)");
  EXPECT_EQ(
      problems(kLlama3, R"(    "schedule": "dualpipe",
    "pipeline_parallel": 2,
    "data_parallel": 2,
    "global_batch": 18)",
               4),
      R"(error: dualpipe needs an even number of micro-batches, twice pipeline_parallel at least
  --> scenario.json:9:17   /strategy/schedule
   |
 9 |     "schedule": "dualpipe",
   |                 ^^^^^^^^^^ 9 micro-batches over 2 stages
   |
  ::: scenario.json:12:21   /strategy/global_batch is 18
  ::: scenario.json:10:26   /strategy/pipeline_parallel is 2
  help: use a global_batch of 16 or 20, or schedule "1f1b"
)");
}

TEST(StrategyProblem, SwappedHeadsAreWhole) {
  // 8 key-value heads over 2 x 8 ranks.
  EXPECT_EQ(
      problems(kLlama3, R"(    "tensor_parallel": 2,
    "context_parallel": 8,
    "context_parallel_method": "all_to_all",
    "global_batch": 64)"),
      R"(error: context_parallel by all_to_all must divide the heads of a tensor-parallel rank and the sequence length
  --> scenario.json:10:25   /strategy/context_parallel
   |
10 |     "context_parallel": 8,
   |                         ^ 2 x 8 ranks for 32 and 8 heads, 8192 tokens
   |
  ::: scenario.json:11:32   /strategy/context_parallel_method is "all_to_all"
  ::: scenario.json:5:40   /model/kv_heads is 8
  help: use 4
)");
}

TEST(StrategyProblem, LayersOfEveryChunkAreNamedAndAddUp) {
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 4,
    "layers_per_stage": [8, 8, 16],
    "global_batch": 64)"),
            R"(error: layers_per_stage has to name every chunk
  --> scenario.json:10:25   /strategy/layers_per_stage
   |
10 |     "layers_per_stage": [8, 8, 16],
   |                         ^ 3 of 4
   |
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 4
  help: name pipeline_parallel x virtual_stages numbers, in the order of the model
)");
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 4,
    "layers_per_stage": [8, 8, 8, 7],
    "global_batch": 64)"),
            R"(error: layers_per_stage has to add up to the model's layers
  --> scenario.json:10:25   /strategy/layers_per_stage
   |
10 |     "layers_per_stage": [8, 8, 8, 7],
   |                         ^ 31 of 32 layers
   |
  ::: scenario.json:4:15   /model/layers is 32
)");
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 2,
    "layers_per_stage": [8, "many"],
    "global_batch": 64)"),
            R"(error: layers_per_stage has whole numbers, 0 to 100000 each
  --> scenario.json:10:29   /strategy/layers_per_stage/1
   |
10 |     "layers_per_stage": [8, "many"],
   |                             ^^^^^^ not one of them
  help: for example 1
)");
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 2,
    "layers_per_stage": [15, 17],
    "layer_placement": "even",
    "global_batch": 64)"),
            R"(error: layers_per_stage takes the place of layer_placement
  --> scenario.json:10:25   /strategy/layers_per_stage
   |
10 |     "layers_per_stage": [15, 17],
   |                         ^ both are there
   |
  ::: scenario.json:11:24   /strategy/layer_placement is "even"
  help: leave one of them out
)");
}

}  // namespace
}  // namespace headway
