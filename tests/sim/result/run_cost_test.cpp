#include "sim/result/run_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

/// 100 accelerators; 36 s, of which 20 compute, 4 recompute, 6 exchange and 6 wait; 1000 tokens/s.
Prediction prediction(nlohmann::json cost) {
  Prediction p;
  p.question.accelerators = 100;
  p.question.scenario = nlohmann::json({{"cost", std::move(cost)}});
  p.iteration_time = Seconds(36.0);
  p.tokens_per_second = 1000.0;
  p.breakdown[Cause::compute] = Seconds(20.0);
  p.breakdown[Cause::recompute] = Seconds(4.0);
  p.breakdown[Cause::data_parallel_exposed] = Seconds(6.0);
  p.breakdown[Cause::pipeline_bubble] = Seconds(5.0);
  p.breakdown[Cause::other] = Seconds(1.0);
  return p;
}

const nlohmann::json kPower = {
    {"computing", "700 W"}, {"exchanging", "400 W"}, {"waiting", "0.1 kW"}};

TEST(RunCost, IsThePriceOfTheHoursOfAllAccelerators) {
  const auto cost = run_cost(prediction({{"usd_per_gpu_hour", 2.5}}));
  ASSERT_TRUE(cost.has_value());
  EXPECT_DOUBLE_EQ(cost->usd.value(), 2.5);  // 100 x 36 s is one hour
  EXPECT_DOUBLE_EQ(cost->tokens, 36'000.0);
  EXPECT_FALSE(cost->energy.has_value());
  EXPECT_FALSE(cost->run.has_value());
}

TEST(RunCost, EnergyGoesByActivity) {
  const auto cost = run_cost(prediction(
      {{"power", kPower}, {"power_usage_effectiveness", 1.5}, {"carbon_kg_per_kwh", 0.36}}));
  ASSERT_TRUE(cost.has_value());
  // One accelerator: 24 s x 700 W + 6 s x 400 W + 6 s x 100 W = 19,800 J; x 100 x 1.5.
  EXPECT_DOUBLE_EQ(cost->energy.value().count(), 2.97e6);
  EXPECT_DOUBLE_EQ(cost->energy_by_activity.value().computing.count(), 2.52e6);
  EXPECT_DOUBLE_EQ(cost->energy_by_activity.value().exchanging.count(), 3.6e5);
  EXPECT_DOUBLE_EQ(cost->energy_by_activity.value().waiting.count(), 9e4);
  // 2.97e6 J = 0.825 kWh, x 0.36 kg.
  EXPECT_DOUBLE_EQ(cost->carbon_kg.value(), 0.297);
  EXPECT_FALSE(cost->usd.has_value());
}

TEST(RunCost, ARunHasAsManyIterationsAsItsTokensTake) {
  // 3.6e6 tokens are 100 iterations of 36 s: an hour of 100 accelerators.
  const auto cost = run_cost(prediction({{"usd_per_gpu_hour", 1.5}, {"tokens", 3.6e6}}));
  const RunCost::Run& run = cost.value().run.value();
  EXPECT_DOUBLE_EQ(run.time.count(), 3600.0);
  EXPECT_DOUBLE_EQ(run.usd().value(), 150.0);
  EXPECT_FALSE(run.storage_usd.has_value());
  EXPECT_FALSE(run.egress_usd.has_value());
}

/// The same hour of training takes 4500 s, the median of its histories, of which a third of what is
/// lost is work that is done again; one node of ten is a spare.
Prediction with_failures(nlohmann::json cost) {
  Prediction p = prediction(std::move(cost));
  p.question.nodes = 10;
  (*p.question.scenario)["reliability"] = {{"train_tokens", 3.6e6}, {"spare_nodes", 1}};
  ReliabilityPrediction reliability;
  reliability.goodput = {.mean = 0.75, .low = 0.72, .median = 0.75, .high = 0.8};
  reliability.time_to_train_s = {4000.0, 4500.0, 5000.0};
  reliability.lost_gpu_hours = {{"lost_work", 1.0}, {"restart", 2.0}};
  p.reliability = reliability;
  return p;
}

TEST(RunCost, ARunPaysForFailuresAndForSpareNodes) {
  const auto cost = run_cost(with_failures({{"usd_per_gpu_hour", 1.0}, {"tokens", 3.6e6}}));
  EXPECT_DOUBLE_EQ(cost.value().usd.value(), 1.0);  // an iteration's stays as it is
  // 110 accelerators for 4500 s.
  EXPECT_DOUBLE_EQ(cost->run.value().usd().value(), 137.5);
}

TEST(RunCost, SpotNodesArePaidForWhileTheyAreThere) {
  Prediction p =
      with_failures({{"usd_per_gpu_hour", 1.0}, {"spot_usd_per_gpu_hour", 0.4}, {"tokens", 3.6e6}});
  p.reliability->spot = SpotUse{.nodes = 5, .of_nodes = 10, .there = 0.5};
  // An iteration takes an hour of one accelerator, half of it of spot nodes.
  EXPECT_DOUBLE_EQ(run_cost(p).value().usd.value(), 0.5 + 0.4 * 0.5);
  // 60 accelerators stay, spare ones among them; of 50 others 25 are there on average.
  EXPECT_DOUBLE_EQ(run_cost(p)->run.value().usd().value(), (60.0 + 0.4 * 25.0) * 1.25);
}

TEST(RunCost, ARunBesideHistoriesOfAGivenTimeTakesAsMuchLongerAsTheyDo) {
  Prediction p = with_failures({{"usd_per_gpu_hour", 1.0}, {"tokens", 7.2e6}});
  (*p.question.scenario)["reliability"].erase("train_tokens");
  p.reliability->time_to_train_s.clear();
  const auto cost = run_cost(p);
  EXPECT_NEAR(cost.value().run.value().time.count(), 7200.0 / 0.75, 1e-6);
}

/// Iterations of 36 s that may take 30 to 43.2 s: a factor of 1.2 either way, and so may the price
/// of the time; what leaves the site costs the same.
TEST(RunCost, ThePriceIsAsUncertainAsTheTime) {
  Prediction p = prediction({{"usd_per_gpu_hour", 1.5},
                             {"tokens", 3.6e6},
                             {"usd_per_gb_egress", 0.1},
                             {"egress", "100 GB"}});
  p.iteration_interval = {30.0, 43.2};
  const RunCost::Run run = run_cost(p).value().run.value();
  EXPECT_DOUBLE_EQ(run.usd().value(), 160.0);
  EXPECT_NEAR(run.usd_interval().value().low, 150.0 / 1.2 + 10.0, 1e-9);
  EXPECT_NEAR(run.usd_interval().value().high, 150.0 * 1.2 + 10.0, 1e-9);
}

TEST(RunCost, WorkThatIsDoneAgainDrawsWhatWorkDrawsAndSpareNodesWaitAllTheTime) {
  const auto cost = run_cost(
      with_failures({{"power", kPower}, {"power_usage_effectiveness", 1.5}, {"tokens", 3.6e6}}));
  // (3600 + 300) s / 36 s x 2.97e6 J; 600 s x 100 x 100 W x 1.5; 4500 s x 10 x 100 W x 1.5.
  const RunCost::Run& run = cost.value().run.value();
  EXPECT_NEAR(run.energy.value().count(), 3.2175e8 + 9e6 + 6.75e6, 1e-3);
  // 3900 / 36 of an iteration's 9e4 J of waiting, and the other two.
  EXPECT_NEAR(run.energy_by_activity.value().waiting.count(), 9.75e6 + 9e6 + 6.75e6, 1e-3);
}

TEST(RunCost, SpareNodesDrawNothingOfTheSwitches) {
  nlohmann::json power = kPower;
  power["fabric"] = "1 kW";
  const auto cost = run_cost(with_failures({{"power", power}, {"power_usage_effectiveness", 1.0}}));
  // 3900 s as an iteration draws it, 600 s x 10 kW, 4500 s x 1 kW of spare ones; all through the
  // 1 kW of the switches.
  EXPECT_NEAR(cost.value().run.value().energy->count(),
              3900.0 / 36.0 * 1.98e6 + 6e6 + 4.5e6 + 4.5e6, 1e-3);
}

TEST(RunCost, SpotNodesThatAreAwayDrawNothing) {
  Prediction p =
      with_failures({{"power", kPower}, {"power_usage_effectiveness", 1.0}, {"tokens", 3.6e6}});
  (*p.question.scenario)["reliability"]["spare_nodes"] = 0;
  const auto waiting = [&] { return run_cost(p)->run->energy_by_activity->waiting.count(); };
  // 3900 s as an iteration waits, and 600 s in which all do.
  EXPECT_NEAR(waiting(), 3900.0 / 36.0 * 6e4 + 600.0 * 1e4, 1e-3);
  // One of ten is there for half of 4500 s: 100 accelerators wait 600 s but for 5 x 4500 s.
  p.reliability->spot = SpotUse{.nodes = 1, .of_nodes = 10, .there = 0.5};
  EXPECT_NEAR(waiting(), 3900.0 / 36.0 * 6e4 + (600.0 * 100.0 - 4500.0 * 5.0) * 1e2, 1e-3);
  // What is lost is all because they are away.
  p.reliability->spot = SpotUse{.nodes = 5, .of_nodes = 10, .there = 0.5};
  EXPECT_NEAR(waiting(), 3900.0 / 36.0 * 6e4, 1e-3);
}

/// Two hours, of which a quarter is lost.
TEST(RunCost, ARunOfAGivenTimeIsThatLong) {
  Prediction p = with_failures(
      {{"usd_per_gpu_hour", 1.0}, {"power", kPower}, {"power_usage_effectiveness", 1.5}});
  (*p.question.scenario)["reliability"] = {{"duration", "2 h"}, {"spare_nodes", 1}};
  p.reliability->time_to_train_s.clear();
  const RunCost::Run run = run_cost(p).value().run.value();
  EXPECT_DOUBLE_EQ(run.time.count(), 7200.0);
  EXPECT_DOUBLE_EQ(run.usd().value(), 220.0);
  // 5400 s of training, 600 s of which are done again on top; 1200 s idle; the spare node.
  EXPECT_NEAR(run.energy->count(), 6000.0 / 36.0 * 2.97e6 + 1200.0 * 1.5e4 + 7200.0 * 1.5e3, 1e-3);
}

TEST(RunCost, StorageIsPaidForByTheMonthAndEgressOnce) {
  const auto cost = run_cost(with_failures({{"tokens", 3.6e6},
                                            {"usd_per_gb_month", 0.024},
                                            {"stored", "1 TB"},
                                            {"usd_per_gb_egress", 0.1},
                                            {"egress", "100 GB"}}));
  const RunCost::Run& run = cost.value().run.value();
  EXPECT_FALSE(run.gpus_usd.has_value());
  EXPECT_DOUBLE_EQ(run.storage_usd.value(), 24.0 * 4500.0 / (30.0 * 86400.0));
  EXPECT_DOUBLE_EQ(run.egress_usd.value(), 10.0);
  EXPECT_DOUBLE_EQ(run.usd().value(), *run.storage_usd + 10.0);
}

TEST(RunCost, IsNothingWithoutInputsOrWithoutATime) {
  Prediction p = prediction({{"usd_per_gpu_hour", 1.0}});
  p.iteration_time = Seconds(0.0);
  EXPECT_FALSE(run_cost(p).has_value());
  p = prediction({});
  p.question.scenario = nlohmann::json::object();
  EXPECT_FALSE(run_cost(p).has_value());
}

/// An hour of 100 accelerators on ten nodes that cost 8,760 dollars a year of depreciation: one an
/// hour. Eight kilowatts a node and twenty of switches, times 1.5, at ten cents.
TEST(RunCost, ARunUsesUpWhatWasBoughtAndDrawsWhatNodesAndSwitchesDo) {
  Prediction p = prediction({{"tokens", 3.6e6},
                             {"purchase", {{"usd", 17'520.0}, {"depreciation_years", 2.0}}},
                             {"power",
                              {{"node", "8 kW"},
                               {"fabric", "20 kW"},
                               {"computing", "800 W"},
                               {"exchanging", "800 W"},
                               {"waiting", "800 W"}}},
                             {"power_usage_effectiveness", 1.5},
                             {"usd_per_kwh", 0.1}});
  p.question.nodes = 10;
  const RunCost cost = run_cost(p).value();
  EXPECT_DOUBLE_EQ(cost.peak_power.value().count(), 150e3);
  // An iteration is a hundredth of an hour: 1.5 kWh and a cent of the cluster.
  EXPECT_DOUBLE_EQ(cost.energy.value().count(), 1.5 * 3.6e6);
  EXPECT_DOUBLE_EQ(cost.usd.value(), 0.01 + 0.15);
  const RunCost::Run& run = cost.run.value();
  EXPECT_DOUBLE_EQ(run.purchase_usd.value(), 1.0);
  EXPECT_DOUBLE_EQ(run.electricity_usd.value(), 15.0);
  EXPECT_DOUBLE_EQ(run.usd().value(), 16.0);
  EXPECT_DOUBLE_EQ(run.outlay().value(), 17'520.0 + 15.0);
}

TEST(RunCost, WithoutYearsOfDepreciationTheRunPaysForAllThatWasBought) {
  Prediction p = prediction({{"tokens", 3.6e6}, {"purchase", {{"usd", 1000.0}}}});
  p.iteration_interval = {30.0, 43.2};
  const RunCost::Run run = run_cost(p).value().run.value();
  EXPECT_DOUBLE_EQ(run.usd().value(), 1000.0);
  EXPECT_DOUBLE_EQ(run.usd_interval().value().low, 1000.0);  // whatever the time
  EXPECT_DOUBLE_EQ(run.usd_interval().value().high, 1000.0);
}

/// 150 dollars, off by a factor of 1.2 either way for the time, and by e^(1.645 x 0.1) for the
/// price: logarithms of 0.1823 and 0.1645 add in squares to 0.2456.
TEST(RunCost, PricesMayBeOffBesideTheTime) {
  Prediction p = prediction({{"usd_per_gpu_hour", 1.5}, {"tokens", 3.6e6}, {"price_spread", 0.1}});
  p.iteration_interval = {30.0, 43.2};
  const RunCost::Run run = run_cost(p).value().run.value();
  EXPECT_NEAR(run.usd_interval().value().low, 150.0 * std::exp(-0.24555), 1e-3);
  EXPECT_NEAR(run.usd_interval().value().high, 150.0 * std::exp(0.24555), 1e-3);
}

}  // namespace
}  // namespace headway
