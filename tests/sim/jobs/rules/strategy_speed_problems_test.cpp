// Problems of micro-batches that are shared out by speed, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;
using testing::read_strategy_text;

TEST(MicroBatchesBySpeed, GoWithReplicasThatReduceOnceAStep) {
  const auto reading = read_strategy_text(kLlama3, R"(    "micro_batches_by_speed": true,
    "zero_stage": 1, "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  EXPECT_TRUE(reading.read->strategy.micro_batches_by_speed);
}

TEST(MicroBatchesBySpeed, DoNotGoWithGradientsReducedEveryMicroBatch) {
  EXPECT_EQ(problems(kLlama3, R"(    "micro_batches_by_speed": true,
    "zero_stage": 2,
    "global_batch": 64)"),
            R"(error: micro_batches_by_speed needs zero_stage 0 or 1
  --> scenario.json:9:31   /strategy/micro_batches_by_speed
   |
 9 |     "micro_batches_by_speed": true,
   |                               ^^^^ gradients are reduced with every micro-batch, by all replicas at once
   |
  ::: scenario.json:10:19   /strategy/zero_stage is 2
  help: set zero_stage to 1, or leave micro_batches_by_speed out
)");
}

TEST(MicroBatchesBySpeed, DoNotGoWithInterleavedStages) {
  EXPECT_EQ(problems(kLlama3, R"(    "micro_batches_by_speed": true,
    "pipeline_parallel": 2,
    "virtual_stages": 2,
    "global_batch": 64)"),
            R"(error: micro_batches_by_speed needs a schedule with one chunk a stage
  --> scenario.json:9:31   /strategy/micro_batches_by_speed
   |
 9 |     "micro_batches_by_speed": true,
   |                               ^^^^ others go through their chunks in whole groups of micro-batches
   |
  ::: scenario.json:11:23   /strategy/virtual_stages is 2
  help: set schedule to "1f1b" and virtual_stages to 1
)");
}

TEST(MicroBatchesBySpeed, DoNotGoWithIslands) {
  EXPECT_EQ(problems(kLlama3, R"(    "micro_batches_by_speed": true,
    "synchronisation": {"scheme": "local_steps", "every": 10, "islands": 2},
    "global_batch": 64)"),
            R"(error: micro_batches_by_speed needs replicas that reduce with every step
  --> scenario.json:9:31   /strategy/micro_batches_by_speed
   |
 9 |     "micro_batches_by_speed": true,
   |                               ^^^^ servers and islands count the work of their workers in steps
   |
  ::: scenario.json:10:24   /strategy/synchronisation is {"every":10,"islands":2,"scheme":"local_steps"}
  help: leave micro_batches_by_speed out
)");
}

}  // namespace
}  // namespace headway
