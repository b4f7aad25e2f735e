#include "sim/result/decision/run_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// 90 % of predictions within a factor of 1.2.
constexpr Seconds kLow(2.0 / 1.2);
constexpr Seconds kHigh(2.0 * 1.2);

TEST(RunTime, WithoutFailuresIsAsUncertainAsItsIterations) {
  // 100 iterations of 2 s: half of them are through after 200 s, 95 % after 240 s, 5 % after 200 /
  // 1.2 s.
  const RunTime time({200.0}, kLow, kHigh);
  EXPECT_NEAR(time.at(0.5).count(), 200.0, 1e-9);
  EXPECT_NEAR(time.at(0.95).count(), 240.0, 1e-9);
  EXPECT_NEAR(time.at(0.05).count(), 200.0 / 1.2, 1e-9);
  EXPECT_NEAR(time.probability(Seconds(240.0)), 0.95, 1e-12);
}

TEST(RunTime, IsTheMeanOverItsHistories) {
  // By 240 s the history of 200 s is through in 95 % of cases, that of 240 s in 50 %, that of 288 s
  // in 5 %: ln(240 / 288) = -ln 1.2.
  const RunTime time({200.0, 240.0, 288.0}, kLow, kHigh);
  EXPECT_NEAR(time.probability(Seconds(240.0)), 0.5, 1e-12);
  EXPECT_NEAR(time.at(0.5).count(), 240.0, 1e-9);
}

TEST(RunTime, ProbabilityAndTimeAreInversesOfEachOther) {
  const RunTime time({150.0, 210.0, 220.0, 500.0}, kLow, kHigh);
  for (const double p : {0.01, 0.3, 0.5, 0.9, 0.99}) {
    EXPECT_NEAR(time.probability(time.at(p)), p, 1e-9) << p;
  }
}

TEST(RunTime, HistoriesThatNeverEndAreNeverInTime) {
  const RunTime time({200.0, kNever}, kLow, kHigh);
  EXPECT_NEAR(time.probability(Seconds(1e12)), 0.5, 1e-12);
  EXPECT_EQ(time.at(0.6).count(), kNever);
  // Half of the histories have to be through in 80 % of cases for 40 % of all.
  EXPECT_NEAR(time.probability(time.at(0.4)), 0.4, 1e-9);
}

TEST(RunTime, WhereNothingIsUncertainTheHistoriesDecide) {
  const RunTime time({100.0, 200.0}, 2.0_s, 2.0_s);
  EXPECT_EQ(time.probability(Seconds(150.0)), 0.5);
  EXPECT_NEAR(time.at(0.9).count(), 200.0, 1e-9);
}

TEST(RunTime, TheMeanIsThatOfHistoriesTimesThatOfALognormal) {
  // ln 1.2 / 1.6449 = 0.11085; e^(0.11085^2 / 2) = 1.006162.
  EXPECT_NEAR(RunTime({200.0, 300.0}, kLow, kHigh).mean().count(), 250.0 * 1.006162, 1e-3);
}

/// 1000 tokens/s; an iteration of 2 s may take a factor of 1.2 less or more.
Prediction predicted(nlohmann::json scenario) {
  Prediction p;
  p.question.scenario = std::move(scenario);
  p.iteration_time = 2.0_s;
  p.iteration_interval = {kLow.count(), kHigh.count()};
  p.tokens_per_second = 1000.0;
  p.memory.stages.resize(1);
  return p;
}

TEST(RunTime, OfAScenarioHasTheTokensThatItNames) {
  EXPECT_FALSE(run_time(predicted(nlohmann::json::object())).has_value());
  EXPECT_EQ(run_tokens(predicted({{"cost", {{"tokens", 2e5}}}})), 2e5);
  EXPECT_EQ(run_tokens(predicted({{"reliability", {{"train_tokens", 3e5}}}})), 3e5);
  const auto time = run_time(predicted({{"cost", {{"tokens", 2e5}}}}));
  EXPECT_NEAR(time.value().at(0.95).count(), 240.0, 1e-9);
}

TEST(RunTime, CountsSamplesWhereThereAreNoTokens) {
  // 1000 images/s, 2 s an iteration: 200,000 are through after 100 iterations.
  Prediction p = predicted({{"cost", {{"tokens", 2e5}}}});
  p.samples_per_second = std::exchange(p.tokens_per_second, 0.0);
  EXPECT_DOUBLE_EQ(run_iterations(p).value(), 100.0);
  EXPECT_NEAR(run_time(p).value().at(0.95).count(), 240.0, 1e-9);
  p.samples_per_second = 0.0;  // it was not simulated
  EXPECT_FALSE(run_iterations(p).has_value());
  EXPECT_FALSE(run_time(p).has_value());
}

TEST(RunTime, OfAScenarioHoldsItsHistories) {
  Prediction p = predicted({{"reliability", {{"train_tokens", 2e5}}}});
  p.reliability.emplace().time_to_train_s = {200.0, 240.0, 288.0};
  EXPECT_NEAR(run_time(p).value().at(0.5).count(), 240.0, 1e-9);
}

TEST(RunTime, OfOtherTokensIsStretchedByTheGoodput) {
  // Without an error of the prediction: 200 s / 0.8, and in 18.5 % of cases 200 s / 0.5 or sooner
  // than 200 s / 0.9.
  Prediction p = predicted({{"reliability", {{"duration", "1 d"}}}});
  p.iteration_interval = {2.0, 2.0};
  p.reliability.emplace().goodput = {.mean = 0.75, .low = 0.5, .median = 0.8, .high = 0.9};
  const RunTime time = run_time(p, 2e5);
  EXPECT_NEAR(time.at(0.5).count(), 250.0, 1e-6);
  EXPECT_NEAR(time.probability(Seconds(251.0)), 0.185 + 0.63, 1e-12);
  EXPECT_NEAR(time.at(0.95).count(), 400.0, 1e-6);
}

}  // namespace
}  // namespace headway
