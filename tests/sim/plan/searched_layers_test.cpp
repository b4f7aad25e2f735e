#include "sim/plan/searched_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/source_folder.h"

namespace headway {
namespace {

/// Thirty-two H100 and thirty-two A100.
constexpr auto kMixed = "llama3_8b_h100_a100_64";
constexpr double kPeakOfH100 = 989.4;
constexpr double kPeakOfA100 = 312.0;

Scenario shipped(const std::string& name, const std::vector<Override>& overrides = {}) {
  ScenarioOptions options;
  options.overrides = overrides;
  Diagnostics diagnostics;
  return read_scenario(source_folder() + "/scenarios/" + name + ".json", options, diagnostics);
}

Strategy staged(const Scenario& scenario, int stages, int virtual_stages) {
  Strategy strategy = *scenario.strategy;
  strategy.pipeline_parallel = stages;
  strategy.virtual_stages = virtual_stages;
  strategy.data_parallel = 32 / stages;
  strategy.layers_per_stage.clear();
  return strategy;
}

/// Two stages, 32 layers: of all splits none has a slowest stage that is through sooner.
TEST(SearchedLayers, TheSlowestOfTwoStagesIsThroughAsSoonAsCanBe) {
  const Scenario scenario = shipped(kMixed, {{"/strategy/layers_per_stage", "[20,12]"}});
  const std::vector<int> layers = searched_layers(scenario, staged(scenario, 2, 2), 64);
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 32);
  const auto slowest = [](int of_h100) {
    return std::max(of_h100 / kPeakOfH100, (32 - of_h100) / kPeakOfA100);
  };
  for (int other = 1; other < 32; ++other) {
    EXPECT_LE(slowest(layers[0] + layers[2]), slowest(other)) << other;
  }
}

/// Four stages: two of H100, two of A100. 12 + 12 + 4 + 4 layers take 12 / 989 = 0.0121 and
/// 4 / 312 = 0.0128; with 13 + 12 + 4 + 3 the slowest takes 0.0131.
TEST(SearchedLayers, StagesOnNodesOfAKindHaveAsMany) {
  const Scenario scenario = shipped(kMixed);
  const std::vector<int> wanted = {12, 12, 4, 4};
  EXPECT_EQ(searched_layers(scenario, staged(scenario, 4, 1), 64), wanted);
}

TEST(SearchedLayers, AreTheScenariosWhereItHasAsManyChunks) {
  const Scenario scenario = shipped(kMixed, {{"/strategy/layers_per_stage", "[20,12]"}});
  const std::vector<int> given = {20, 12};
  EXPECT_EQ(searched_layers(scenario, staged(scenario, 2, 1), 64), given);
}

TEST(SearchedLayers, AreThoseOfThePlacementOnNodesOfOneKind) {
  const Scenario scenario = shipped("llama3_8b_64");
  EXPECT_TRUE(searched_layers(scenario, staged(scenario, 2, 1), 64).empty());
}

}  // namespace
}  // namespace headway
