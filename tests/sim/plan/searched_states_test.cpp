/// How a search shards what replicas hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/plan/strategy_space.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

Scenario with_states(const std::string& path, const std::vector<Override>& overrides = {}) {
  ScenarioOptions options;
  options.overrides = overrides;
  Diagnostics diagnostics;
  return read_scenario(path, options, diagnostics);
}

std::vector<Strategy> strategies_of(const StrategySpace& space) {
  std::vector<Strategy> all;
  space.for_each([&](const StrategyChoice& choice) { all.push_back(space.strategy(choice)); });
  return all;
}

/// 64 accelerators that shard parameters over eight: copies stay eight ranks apart, where that
/// divides the replicas; four or two replicas share out all.
TEST(SearchedStates, CopiesOfShardsStayAsTheScenarioHasThem) {
  const Scenario scenario = with_states(source_folder() + "/scenarios/llama3_8b_64.json",
                                        {{"/strategy/zero_stage", "3"},
                                         {"/strategy/preset", "none"},
                                         {"/strategy/shard_group", "8"}});
  bool has_few = false;
  for (const Strategy& strategy : strategies_of(StrategySpace(scenario, {"schedule"}))) {
    if (strategy.sharding != Sharding::full) continue;
    const int wanted = strategy.replicas() % 8 == 0 ? 8 : strategy.replicas();
    ASSERT_EQ(strategy.shard_group, wanted) << strategy.replicas();
    has_few = has_few || strategy.replicas() < 8;
  }
  EXPECT_TRUE(has_few);
}

TEST(SearchedStates, AreSharedOutOverAllWhereTheScenarioDoesSo) {
  const Scenario scenario =
      with_states(source_folder() + "/scenarios/llama3_8b_64.json",
                  {{"/strategy/zero_stage", "3"}, {"/strategy/preset", "none"}});
  for (const Strategy& strategy : strategies_of(StrategySpace(scenario, {"schedule"}))) {
    if (strategy.sharding != Sharding::full) continue;
    ASSERT_EQ(strategy.shard_group, strategy.replicas());
  }
}

/// There is nobody to share out to.
TEST(SearchedStates, OfASingleReplicaAreShardedAsTheScenarioSays) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(2);
  for (const int stage : {0, 1, 3}) {
    text["strategy"]["zero_stage"] = stage;
    text["strategy"]["pipeline_parallel"] = 1;
    const Scenario scenario = with_states(scratch.write("scenario.json", text.dump()));
    int alone = 0;
    for (const Strategy& strategy : strategies_of(StrategySpace(scenario, {}))) {
      if (strategy.replicas() > 1) continue;
      ++alone;
      // Stages of a pipeline are not sharded in full unless the scenario does so.
      if (strategy.pipeline_parallel > 1 && stage == 3) continue;
      ASSERT_EQ(strategy.sharding, scenario.strategy->sharding);
    }
    EXPECT_GT(alone, 0);
  }
}

/// Those with whole parameters only, and one chunk a stage.
TEST(SearchedStates, MicroBatchesBySpeedGoWithWhatTheyNeed) {
  const Scenario scenario =
      with_states(source_folder() + "/scenarios/llama3_8b_h100_a100_64.json",
                  {{"/strategy", R"({"tensor_parallel": 2, "micro_batch": 1, "global_batch": 512,
                              "micro_batches_by_speed": true})"}});
  const std::vector<Strategy> all = strategies_of(StrategySpace(scenario, {}));
  ASSERT_FALSE(all.empty());
  for (const Strategy& strategy : all) {
    ASSERT_NE(strategy.sharding, Sharding::full);
    ASSERT_EQ(strategy.chunks_of_stage(), 1);
  }
}

}  // namespace
}  // namespace headway
