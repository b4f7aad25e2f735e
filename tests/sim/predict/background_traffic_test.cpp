#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/predict/what_if/what_if.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using testing::HasSubstr;

Scenario small_beside_traffic(const nlohmann::json& perturbations) {
  nlohmann::json text = small_scenario(4);
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 8}};
  text["perturbations"].update(perturbations);
  return scenario_of(text);
}

nlohmann::json traffic(int from, int to, const char* rate) {
  return {{"background_traffic", {{{"from_node", from}, {"to_node", to}, {"rate", rate}}}}};
}

std::string background_problems(const nlohmann::json& perturbations) {
  return problems_in([&] { static_cast<void>(small_beside_traffic(perturbations)); });
}

Seconds background_time(const Scenario& scenario) {
  return run_job(scenario, *scenario.strategy, 1, 1).time();
}

TEST(BackgroundTrafficOfAScenario, ANodeSendsEvenlyByItsNics) {
  const Scenario scenario = small_beside_traffic(traffic(0, 2, "60 GB/s"));
  ASSERT_EQ(scenario.perturbation.background.size(), 1U);
  const BackgroundFlow& flow = scenario.perturbation.background[0];
  EXPECT_EQ(flow.plan.rate_cap, 30_GBps);  // of each of the two NICs
  EXPECT_EQ(flow.plan.links.size(), 4U);   // two cables up, two down
  EXPECT_EQ(flow.from, 0.0);
  EXPECT_TRUE(std::isinf(flow.to));
}

TEST(BackgroundTrafficOfAScenario, SlowsTheJobAndIsACauseOfItsOwn) {
  const Scenario quiet = small_beside_traffic(nlohmann::json::object());
  const Scenario busy = small_beside_traffic(traffic(0, 1, "100 GB/s"));
  const Seconds sound = background_time(quiet);
  EXPECT_GT(background_time(busy), 1.01 * sound);
  const WhatIf result = what_if(busy, run_job(busy, *busy.strategy, 1, 1), 1);
  const auto cause = std::ranges::find(result.removals, "background traffic", &Removal::what);
  ASSERT_NE(cause, result.removals.end());
  EXPECT_NEAR(cause->without / sound, 1.0, 1e-12);
  EXPECT_NEAR(result.ideal / sound, 1.0, 1e-12);
}

TEST(BackgroundTrafficOfAScenario, ProblemsAreNamed) {
  EXPECT_THAT(background_problems(traffic(1, 1, "1 GB/s")),
              HasSubstr("traffic inside a node does not meet the fabric"));
  EXPECT_THAT(background_problems(traffic(0, 4, "1 GB/s")),
              HasSubstr("to_node must be between 0 and 3"));
  nlohmann::json text = small_scenario(2);
  text["perturbations"].update(traffic(0, 1, "1 GB/s"));
  text["run"] = {{"flows", "simgrid"}};
  EXPECT_THAT(problems_in([&] { static_cast<void>(scenario_of(text)); }),
              HasSubstr("SimGrid's flows do not know links that change or traffic of others"));
}

}  // namespace
}  // namespace headway
