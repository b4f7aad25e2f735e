// Problems of local steps, by their full text, and what they leave of a strategy.
#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;
using testing::read_strategy_text;

TEST(Synchronisation, IslandsAreReplicasUnlessToldOtherwise) {
  const auto each = read_strategy_text(kLlama3, R"(    "data_parallel": 8,
    "synchronisation": {"scheme": "local_steps", "every": 100}, "global_batch": 64)",
                                       8);
  ASSERT_TRUE(each.read) << each.problems;
  EXPECT_EQ(each.read->strategy.islands(), 8);
  EXPECT_EQ(each.read->strategy.replicas(), 1);
  const auto two = read_strategy_text(kLlama3, R"(    "data_parallel": 8, "zero_stage": 3,
    "synchronisation": {"scheme": "local_steps", "islands": 2}, "global_batch": 64)",
                                      8);
  ASSERT_TRUE(two.read) << two.problems;
  EXPECT_EQ(two.read->strategy.synchronisation->work_text(two.read->strategy),
            ", 2 islands of 500 local steps");
  EXPECT_EQ(two.read->strategy.replicas(), 4);
  EXPECT_EQ(two.read->strategy.shard_ranks(), 4);
}

// In ten steps each of two parts is averaged once, beside two steps: a fifth of an average a step,
// and four of ten steps in which one is under way.
TEST(Synchronisation, AveragesBeginWhereTheRestOfTheStepsHidesThem) {
  const auto reading = read_strategy_text(kLlama3, R"(    "data_parallel": 8, "synchronisation":
    {"scheme": "local_steps", "every": 10, "fragments": 2, "overlap_steps": 2},
    "global_batch": 64)",
                                          8);
  ASSERT_TRUE(reading.read) << reading.problems;
  const Strategy& strategy = reading.read->strategy;
  const std::vector<ReplicaExchange> all = strategy.synchronisation->exchanges(strategy);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(all[0].times, 0.2);
  EXPECT_DOUBLE_EQ(all[0].begin, 1.0 - 0.4);
}

// Beside Adam's states a rank of an island of four has a quarter of the last average and of the
// outer momentum: 8 bytes a parameter. Llama 3 8B has 8.03 billion.
TEST(Synchronisation, IslandsKeepTheirLastAverage) {
  const auto optimizer = [](const std::string& more) {
    const auto reading =
        read_strategy_text(kLlama3,
                           R"(    "data_parallel": 8, "zero_stage": 3, "shard_group": 4,)" + more +
                               R"( "global_batch": 64)",
                           8);
    EXPECT_TRUE(reading.read) << reading.problems;
    return stage_memory(testing::llama(32, 4096, 32, 8, 14'336), reading.read->strategy)
        .front()
        .optimizer.count();
  };
  const double more =
      optimizer(R"("synchronisation": {"scheme": "local_steps", "islands": 2},)") - optimizer("");
  EXPECT_NEAR(more, 8.0 * 8.03e9 / 4.0, 0.01 * 8.0 * 8.03e9 / 4.0);
}

TEST(StrategyProblem, AnIslandAloneTakesNoLocalSteps) {
  for (const std::string fields : {R"("data_parallel": 8,
    "synchronisation": {"scheme": "local_steps", "islands": 1})",
                                   R"("tensor_parallel": 8,
    "synchronisation": {"scheme": "local_steps"})"}) {
    const std::string found = problems(kLlama3, "    " + fields + R"(,
    "global_batch": 64)",
                                       8);
    EXPECT_TRUE(found.starts_with("error: local steps need two islands at least\n")) << found;
  }
}

TEST(StrategyProblem, IslandsAreEquallyLarge) {
  EXPECT_EQ(problems(kLlama3, R"(    "synchronisation": {"scheme": "local_steps", "islands": 3},
    "global_batch": 64)",
                     8),
            R"(error: islands must divide data_parallel
  --> scenario.json:9:24   /strategy/synchronisation
   |
 9 |     "synchronisation": {"scheme": "local_steps", "islands": 3},
   |                        ^ 3 islands of 8 replicas
  help: use 2 or 4
)");
}

TEST(StrategyProblem, AveragesEndBeforeTheNextOfTheirKind) {
  const std::string found = problems(kLlama3, R"(    "synchronisation": {"scheme": "local_steps",
      "every": 10, "fragments": 4, "overlap_steps": 3}, "global_batch": 64)");
  EXPECT_TRUE(found.starts_with("error: fragments x overlap_steps must be at most every\n"))
      << found;
}

TEST(StrategyProblem, LocalStepsExcludeWhatIsNotModelled) {
  const std::string copies = problems(kLlama3, R"(    "zero_stage": 3, "shard_group": 2,
    "synchronisation": {"scheme": "local_steps", "islands": 2}, "global_batch": 64)",
                                      8);
  EXPECT_TRUE(copies.starts_with("error: with local steps, shard_group is all ranks of an island"))
      << copies;
  const std::string doubled = problems(kLlama3, R"(    "pipeline_parallel": 2,
    "schedule": "dualpipe", "synchronisation": {"scheme": "local_steps"}, "global_batch": 64)",
                                       8);
  EXPECT_TRUE(doubled.find("two copies of the model do not go with local steps") !=
              std::string::npos)
      << doubled;
}

}  // namespace
}  // namespace headway
