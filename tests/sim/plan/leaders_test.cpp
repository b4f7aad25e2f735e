#include "sim/plan/leaders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/plan/strategy_plan.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// What simulating alone what a leader's command line says gives.
Seconds time_alone(const Leader& leader, const std::string& path) {
  ScenarioOptions options = leader.options;
  const std::string line = leader.prediction.question.provenance->at("command_line");
  if (line.find(" --replicas 1 ") != std::string::npos) options.replicas = 1;
  Diagnostics diagnostics;
  return simulate(read_scenario(path, options, diagnostics), {.scaling = false})
      .prediction.iteration_time;
}

/// Those drawn once are further behind the fastest than twice the widest range of the others.
TEST(Leaders, AreDrawnOftenWhereTheyMayBeTheFirst) {
  for (const double spread : {0.002, 0.05}) {
    nlohmann::json text = small_scenario(2);
    text["perturbations"] = {{"device_spread", spread}, {"operation_spread", spread}};
    text["run"] = {{"replicas", 5}};
    const ScratchFolder scratch;
    PlanOptions options;
    options.leaders.path = scratch.write("scenario.json", text.dump());
    Diagnostics diagnostics;
    const StrategyPlan plan = plan_strategy(options, diagnostics);
    ASSERT_GE(plan.leaders.size(), 10U);
    const Seconds fastest = plan.leaders.front().time();
    double widest = 0.0;
    std::ptrdiff_t often = 0;
    for (const Leader& leader : plan.leaders) {
      EXPECT_GE(leader.time(), fastest);
      EXPECT_EQ(leader.time(), time_alone(leader, options.leaders.path));
      if (leader.prediction.replicas == 1) continue;
      ++often;
      EXPECT_EQ(leader.prediction.replicas, 5);
      const Percentiles& of = leader.prediction.replica_time;
      widest = std::max(widest, (of.high - of.low) / of.median);
    }
    EXPECT_GE(often, 2) << spread;
    EXPECT_GT(plan.leaders.front().prediction.replicas, 1) << spread;
    for (const Leader& leader : plan.leaders) {
      if (leader.prediction.replicas > 1) continue;
      EXPECT_GT(leader.time(), (1.0 + 2.0 * widest) * fastest) << spread;
    }
  }
}

}  // namespace
}  // namespace headway
