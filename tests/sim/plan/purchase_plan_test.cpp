#include "sim/plan/purchase_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr double kSecondsOfDay = 86400.0;

/// Eight accelerators of two candidates that differ in price and power alone: a node of "dear"
/// costs three times as much and draws half.
json two_offers() {
  json scenario = small_scenario(4);
  scenario["model"]["hidden"] = 4096;
  scenario["model"]["ffn_hidden"] = 16384;
  const auto cost = [](double usd, const char* watts) {
    return json{{"purchase", {{"usd_per_node", usd}}}, {"power", {{"node", watts}}}};
  };
  scenario["cost"] = {{"purchase", {{"depreciation_years", 4}}}, {"usd_per_kwh", 0.1}};
  scenario["candidates"] = {{{"name", "cheap"}, {"cost", cost(100'000, "2 kW")}},
                            {{"name", "dear"}, {"cost", cost(300'000, "1 kW")}}};
  return scenario;
}

struct Purchase {
  explicit Purchase(const json& scenario) {
    options.leaders.path = scratch.write("scenario.json", scenario.dump());
    Diagnostics diagnostics;
    const Scenario base = read_scenario(options.leaders.path, {}, diagnostics);
    tokens_per_day =
        kSecondsOfDay * simulate(base, {.scaling = false}).prediction.tokens_per_second;
  }
  [[nodiscard]] PurchasePlan plan(const TrainingGoal& goal) const {
    Diagnostics diagnostics;
    const PlanFields fields = read_plan_fields(options.leaders.path, {}, diagnostics);
    return plan_purchase(options, goal, fields.candidates, diagnostics);
  }
  /// What the four nodes do in a day, within a day.
  [[nodiscard]] TrainingGoal goal() const {
    return {.tokens = tokens_per_day,
            .deadline = Seconds(kSecondsOfDay),
            .minimize = TrainingGoal::Minimize::cost};
  }

  ScratchFolder scratch;
  PlanOptions options;
  double tokens_per_day = 0.0;
};

TEST(PurchasePlan, TakesTheCheapestOfThoseThatMeetTheGoal) {
  const Purchase purchase(two_offers());
  const PurchasePlan plan = purchase.plan(purchase.goal());
  ASSERT_EQ(plan.candidates.size(), 2U);
  ASSERT_NE(plan.found(), nullptr);
  EXPECT_EQ(plan.found()->name, "cheap");
  // Alike in all but price and power: as many of each.
  const ClusterSize& cheap = *plan.candidates[0].plan.found();
  const ClusterSize& dear = *plan.candidates[1].plan.found();
  EXPECT_EQ(cheap.nodes, dear.nodes);
  EXPECT_EQ(cheap.runs.front().needed, dear.runs.front().needed);
}

TEST(PurchasePlan, MoneyIsWhatIsUsedUpAndWhatIsPaid) {
  const Purchase purchase(two_offers());
  const ClusterSize size = *purchase.plan(purchase.goal()).found()->plan.found();
  const ClusterRun& run = size.runs.front();
  const auto nodes = static_cast<double>(size.nodes);
  // 2 kW a node, all the time, at US$ 0.1 a kilowatt-hour.
  const double hours = run.median.count() / 3600.0;
  const double electricity = 0.1 * 2.0 * nodes * hours;
  EXPECT_NEAR(run.outlay.value(), 100'000 * nodes + electricity, 1e-6 * *run.outlay);
  EXPECT_NEAR(run.usd.value(), 100'000 * nodes * hours / (4.0 * 365.0 * 24.0) + electricity,
              1e-6 * *run.usd);
  EXPECT_DOUBLE_EQ(size.power.value().count(), 2000.0 * nodes);
  EXPECT_DOUBLE_EQ(size.bought.value(), 100'000 * nodes);
  EXPECT_NEAR(run.energy.value().count(), 2000.0 * nodes * run.median.count(),
              1e-6 * run.energy->count());
}

TEST(PurchasePlan, ALimitOfPowerLeavesTheOther) {
  const Purchase purchase(two_offers());
  TrainingGoal goal = purchase.goal();
  const std::int64_t nodes = purchase.plan(goal).found()->plan.found()->nodes;
  goal.power = Watts(1500.0 * static_cast<double>(nodes));
  const PurchasePlan plan = purchase.plan(goal);
  ASSERT_NE(plan.found(), nullptr);
  EXPECT_EQ(plan.found()->name, "dear");
  // What the other lacks: 500 W a node.
  EXPECT_EQ(plan.candidates[0].plan.found(), nullptr);
  const Shortfall missing = shortfall(*plan.candidates[0].plan.shown(), goal);
  EXPECT_DOUBLE_EQ(missing.power.count(), 500.0 * static_cast<double>(nodes));
  EXPECT_EQ(missing.time, Seconds(0.0));
  EXPECT_EQ(missing.usd, 0.0);
}

TEST(PurchasePlan, ABudgetLimitsWhatIsPaidAndNotWhatIsUsedUp) {
  const Purchase purchase(two_offers());
  TrainingGoal goal = purchase.goal();
  goal.budget = 100'000.0;  // a node
  const PurchasePlan plan = purchase.plan(goal);
  EXPECT_EQ(plan.found(), nullptr);
  EXPECT_LT(plan.candidates[0].plan.shown()->runs.front().usd.value(), *goal.budget);
  EXPECT_GT(shortfall(*plan.candidates[0].plan.shown(), goal).usd, 0.0);
}

TEST(PurchasePlan, TheSoonestIsAmongTheLargestThatThePowerAllows) {
  const Purchase purchase(two_offers());
  TrainingGoal goal{.tokens = purchase.tokens_per_day,
                    .power = Watts(8000.0),
                    .minimize = TrainingGoal::Minimize::days};
  const PurchasePlan plan = purchase.plan(goal);
  ASSERT_NE(plan.found(), nullptr);
  EXPECT_EQ(plan.found()->name, "dear");  // 8 nodes of 1 kW for 4 of 2 kW
  const ClusterSize* const dear = plan.candidates[1].plan.found();
  const ClusterSize* const cheap = plan.candidates[0].plan.found();
  ASSERT_NE(cheap, nullptr);
  EXPECT_LE(dear->power.value(), *goal.power);
  for (const ClusterSize& size : plan.candidates[1].plan.sizes) {
    if (size.runs.empty() || *size.power > *goal.power) continue;
    EXPECT_GE(size.runs.front().needed, dear->runs.front().needed);
  }
  EXPECT_LT(dear->runs.front().needed, cheap->runs.front().needed);
}

TEST(PurchasePlan, ComesInWholeDeliveries) {
  json scenario = two_offers();
  for (json& candidate : scenario["candidates"]) candidate["delivery"] = 3;
  const Purchase purchase(scenario);
  const PurchasePlan plan = purchase.plan(purchase.goal());
  for (const CandidatePlan& candidate : plan.candidates) {
    EXPECT_EQ(candidate.plan.delivered, 3);
    for (const ClusterSize& size : candidate.plan.sizes) EXPECT_EQ(size.nodes % 3, 0);
  }
}

TEST(PurchasePlan, HasNoComplaintAboutTheStrategyThatItReplaces) {
  json scenario = two_offers();
  scenario["strategy"]["tensor_parallel"] = 3;  // divides nothing
  const Purchase good(two_offers());
  Purchase bad(two_offers());
  bad.options.leaders.path = bad.scratch.write("bad.json", scenario.dump());
  const PurchasePlan plan = bad.plan(good.goal());
  ASSERT_NE(plan.found(), nullptr);
  EXPECT_EQ(plan.found()->plan.found()->nodes, good.plan(good.goal()).found()->plan.found()->nodes);
}

TEST(PurchasePlan, TheAnswerIsWhatSimulateSaysOfIt) {
  const Purchase purchase(two_offers());
  const PurchasePlan plan = purchase.plan(purchase.goal());
  const ClusterRun& run = plan.found()->plan.found()->runs.front();
  Diagnostics diagnostics;
  const Scenario scenario =
      read_scenario(purchase.options.leaders.path, run.leader.options, diagnostics);
  EXPECT_EQ(simulate(scenario, {.scaling = false}).prediction.iteration_time, run.leader.time());
}

TEST(PurchasePlan, APriceOrPowerThatIsMissingIsAsked) {
  json scenario = two_offers();
  scenario["candidates"][0].erase("cost");
  scenario["candidates"][1].erase("cost");
  scenario.erase("cost");
  Purchase purchase(scenario);
  TrainingGoal goal = purchase.goal();
  goal.power = Watts(1.0);
  EXPECT_EQ(problems_in([&] { static_cast<void>(purchase.plan(goal)); }),
            "error: the cheapest cluster needs a price\n"
            "  --> --goal minimize=cost\n"
            "  help: give one in the scenario, or with --set /cost/usd_per_gpu_hour=2.5\n"
            "\n"
            "error: a limit of power needs a power\n"
            "  --> --goal power\n"
            "  help: give it in the scenario, or with --set /cost/power/node='10.2 kW'\n"
            "\n"
            "2 problems; nothing was done.\n");
}

TEST(PurchasePlan, WhatOneCandidateLacksIsToldBeforeAnythingIsSearched) {
  json scenario = two_offers();
  scenario["candidates"][0]["cost"].erase("power");
  scenario["cost"].erase("usd_per_kwh");
  Purchase purchase(scenario);
  TrainingGoal goal = purchase.goal();
  goal.power = Watts(1.0);
  EXPECT_EQ(problems_in([&] { static_cast<void>(purchase.plan(goal)); }),
            "error: \"cheap\": a limit of power needs a power\n"
            "  --> --goal power\n"
            "  help: give it in the scenario, or with --set /cost/power/node='10.2 kW'\n"
            "\n"
            "1 problem; nothing was done.\n");
}

}  // namespace
}  // namespace headway
