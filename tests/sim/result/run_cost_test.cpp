#include "sim/result/run_cost.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

/// 100 accelerators; 36 s, of which 20 compute, 4 recompute, 6 exchange and 6 wait; 1000 tokens/s.
Prediction prediction(nlohmann::json cost) {
  Prediction p;
  p.question.accelerators = 100;
  p.question.scenario = {{"cost", std::move(cost)}};
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
  EXPECT_FALSE(cost->iterations.has_value());
}

TEST(RunCost, EnergyGoesByActivity) {
  const auto cost = run_cost(prediction(
      {{"power", kPower}, {"power_usage_effectiveness", 1.5}, {"carbon_kg_per_kwh", 0.36}}));
  ASSERT_TRUE(cost.has_value());
  // One accelerator: 24 s x 700 W + 6 s x 400 W + 6 s x 100 W = 19,800 J; x 100 x 1.5.
  EXPECT_DOUBLE_EQ(cost->energy.value().count(), 2.97e6);
  // 2.97e6 J = 0.825 kWh, x 0.36 kg.
  EXPECT_DOUBLE_EQ(cost->carbon_kg.value(), 0.297);
  EXPECT_FALSE(cost->usd.has_value());
}

TEST(RunCost, ARunHasAsManyIterationsAsItsTokensTake) {
  const auto cost = run_cost(prediction({{"usd_per_gpu_hour", 1.0}, {"tokens", 3.6e6}}));
  EXPECT_DOUBLE_EQ(cost.value().iterations.value(), 100.0);
}

TEST(RunCost, IsNothingWithoutInputsOrWithoutATime) {
  Prediction p = prediction({{"usd_per_gpu_hour", 1.0}});
  p.iteration_time = Seconds(0.0);
  EXPECT_FALSE(run_cost(p).has_value());
  p = prediction({});
  p.question.scenario = nlohmann::json::object();
  EXPECT_FALSE(run_cost(p).has_value());
}

}  // namespace
}  // namespace headway
