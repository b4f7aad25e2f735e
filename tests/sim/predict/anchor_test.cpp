#include "sim/predict/anchor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/predict/job_run.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using testing::HasSubstr;

Seconds anchored_time(const Scenario& scenario) {
  return run_job(scenario, *scenario.strategy, scenario.run.replicas, 1).time();
}

std::vector<Diagnostic> anchor_problems(const nlohmann::json& json) {
  try {
    static_cast<void>(scenario_of(json));
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  ADD_FAILURE() << "nothing was wrong";
  return {};
}

TEST(Anchor, ATimePredictedRightChangesNothing) {
  const Scenario scenario = scenario_of(small_scenario(2));
  const AnchorFit fit = fit_anchor(scenario, anchored_time(scenario), 1);
  EXPECT_NEAR(fit.software_factor, 1.0, 1e-5);
  EXPECT_EQ(fit.predicted, anchored_time(scenario));
}

TEST(Anchor, TheAnchoredJobTakesWhatWasMeasured) {
  const Scenario scenario = scenario_of(small_scenario(2));
  const Seconds predicted = anchored_time(scenario);
  for (const double ratio : {0.9, 1.1, 1.5, 4.0}) {
    Scenario faster = scenario;
    faster.software_factor = fit_anchor(scenario, ratio * predicted, 1).software_factor;
    EXPECT_NEAR(anchored_time(faster) / (ratio * predicted), 1.0, 2e-6) << ratio;
    // Part of the time is the network's, so software has to change by more than the whole does.
    EXPECT_GT(std::abs(faster.software_factor - 1.0), std::abs(ratio - 1.0)) << ratio;
  }
}

nlohmann::json reading_scenario(const char* storage, int prefetch) {
  nlohmann::json text = small_scenario(2);
  text["data_loading"] = {{"sample_size", "1 MB"},
                          {"samples", 100000},
                          {"storage_bandwidth", storage},
                          {"prefetch", prefetch}};
  return text;
}

TEST(Anchor, WhatAStepWaitsForSamplesIsNotItsSoftwares) {
  // Nothing is read ahead: the measured step is the job's, and what it reads.
  const Scenario scenario = scenario_of(reading_scenario("1 GB/s", 0));
  const Seconds predicted = simulate(scenario, {.scaling = false}).prediction.iteration_time;
  ASSERT_GT(predicted, anchored_time(scenario));
  EXPECT_NEAR(fit_anchor(scenario, predicted, 1).software_factor, 1.0, 1e-5);
  EXPECT_EQ(fit_anchor(scenario, predicted, 1).predicted, predicted);
  Scenario slower = scenario;
  slower.software_factor = 1.25;
  const Seconds longer = simulate(slower, {.scaling = false}).prediction.iteration_time;
  EXPECT_NEAR(fit_anchor(scenario, longer, 1).software_factor, 1.25, 1e-4);
}

TEST(Anchor, AStepThatWaitsForSamplesTellsNothingOfSoftware) {
  // Reading takes several times as long as the step, and is done ahead.
  const Scenario scenario = scenario_of(reading_scenario("10 MB/s", 2));
  const Seconds predicted = simulate(scenario, {.scaling = false}).prediction.iteration_time;
  ASSERT_GT(predicted, 1.5 * anchored_time(scenario));
  for (const double ratio : {0.99, 1.0, 1.05}) {
    try {
      static_cast<void>(fit_anchor(scenario, ratio * predicted, 1));
      ADD_FAILURE() << ratio;
    } catch (const InputError& error) {
      const Diagnostic& problem = error.diagnostics().front();
      EXPECT_EQ(problem.message, "steps of this job wait for samples: that one took " +
                                     exact_text(ratio * predicted) +
                                     " does not tell how fast its software is");
      EXPECT_EQ(problem.help,
                "take a step of a job whose input keeps up, or leave data_loading out of its "
                "scenario if the samples were there");
    }
  }
  // A step far longer than reading is the software's.
  Scenario slower = scenario;
  slower.software_factor = fit_anchor(scenario, 1.5 * predicted, 1).software_factor;
  EXPECT_NEAR(anchored_time(slower) / (1.5 * predicted), 1.0, 2e-6);
  // Where input keeps up it changes nothing.
  const Scenario quick = scenario_of(reading_scenario("1 TB/s", 2));
  EXPECT_NEAR(
      fit_anchor(quick, 1.2 * anchored_time(quick), 1).software_factor,
      fit_anchor(scenario_of(small_scenario(2)), 1.2 * anchored_time(quick), 1).software_factor,
      1e-9);
}

TEST(Anchor, TheNetworkStaysAsItIs) {
  const Scenario scenario = scenario_of(small_scenario(2));
  Scenario slower = scenario;
  slower.software_factor = 2.0;
  const Block before = built_job(scenario, *scenario.strategy).workload.programs[0].blocks[0];
  const Block after = built_job(slower, *scenario.strategy).workload.programs[0].blocks[0];
  EXPECT_EQ(after.time[Cause::tensor_parallel], before.time[Cause::tensor_parallel]);
  EXPECT_EQ(after.time[Cause::compute], 2.0 * before.time[Cause::compute]);
  EXPECT_EQ(after.time[Cause::other], 2.0 * before.time[Cause::other]);
}

TEST(Anchor, ATimeThatNeedsMoreThanThePeakIsRefused) {
  const Scenario scenario = scenario_of(small_scenario(2));
  try {
    static_cast<void>(fit_anchor(scenario, 0.01 * anchored_time(scenario), 1));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.diagnostics().front().message, HasSubstr("no software could run this job"));
    EXPECT_THAT(error.diagnostics().front().message, HasSubstr("at the peak of the device"));
  }
}

TEST(Anchor, ATimeBeyondAnySoftwareIsRefused) {
  const Scenario scenario = scenario_of(small_scenario(2));
  const double predicted = simulate(scenario, {.scaling = false}).prediction.iteration_time.count();
  EXPECT_NO_THROW((void)fit_anchor(scenario, Seconds(50.0 * predicted), 1));
  // Milliseconds that were taken for seconds, of software that is half as fast and twice.
  for (const double seconds : {1e300, 1e6, 500.0 * predicted, 2000.0 * predicted}) {
    try {
      (void)fit_anchor(scenario, Seconds(seconds), 1);
      FAIL() << "accepted " << seconds;
    } catch (const InputError& error) {
      EXPECT_THAT(error.diagnostics().front().message, HasSubstr("is more than 100 times"));
    }
  }
}

TEST(Anchor, ATimeThatIsWrongIsNamedWhereItStands) {
  nlohmann::json json = small_scenario(2);
  json["anchor"] = {{"measured_iteration_time", "1000 d"}};
  try {
    static_cast<void>(simulate(scenario_of(json), {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().pointer, "/anchor/measured_iteration_time");
  }
}

TEST(Anchor, OfSeveralTimesTheOneThatIsWrongIsNamed) {
  nlohmann::json json = small_scenario(2);
  nlohmann::json other = small_scenario(2);
  other["strategy"]["global_batch"] = 32;
  const Seconds right = simulate(scenario_of(other), {}).prediction.iteration_time;
  json["anchor"] = {{{"measured_iteration_time", exact_text(right)}, {"scenario", other}},
                    {{"measured_iteration_time", "1000 d"}, {"scenario", other}}};
  try {
    static_cast<void>(simulate(scenario_of(json), {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().pointer, "/anchor/1/measured_iteration_time");
    EXPECT_THAT(error.diagnostics().front().message, HasSubstr("is more than 100 times"));
  }
}

TEST(Anchor, TellsWhatItChangedAndNarrowsTheInterval) {
  nlohmann::json json = small_scenario(2);
  const Prediction plain = simulate(scenario_of(json), {}).prediction;
  json["anchor"] = {{"measured_iteration_time", exact_text(1.2 * plain.iteration_time)}};
  const Prediction anchored = simulate(scenario_of(json), {}).prediction;
  ASSERT_TRUE(anchored.anchor.has_value());
  EXPECT_NEAR(anchored.iteration_time / plain.iteration_time, 1.2, 1e-5);
  EXPECT_EQ(anchored.anchor->time_without, plain.iteration_time);
  EXPECT_EQ(anchored.anchor->interval_without.low, plain.iteration_interval.low);
  EXPECT_EQ(anchored.anchor->steps.front().predicted, plain.iteration_time);
  const auto width = [](const Interval& interval) { return interval.high / interval.low; };
  EXPECT_LT(width(anchored.iteration_interval), width(plain.iteration_interval));
}

TEST(Anchor, CarriesOverToAnotherJob) {
  const nlohmann::json ran = small_scenario(2);
  nlohmann::json asked = small_scenario(4);
  const Prediction plain = simulate(scenario_of(ran), {}).prediction;
  const Prediction before = simulate(scenario_of(asked), {}).prediction;
  asked["anchor"] = {{"measured_iteration_time", exact_text(1.2 * plain.iteration_time)},
                     {"scenario", ran}};
  const Scenario scenario = scenario_of(asked);
  const Prediction after = simulate(scenario, {}).prediction;
  EXPECT_GT(after.iteration_time, 1.1 * before.iteration_time);
  // Of what was measured an eighth is taken to be that job's own.
  const double factor = fit_anchor(scenario_of(ran), 1.2 * plain.iteration_time, 1).software_factor;
  EXPECT_NEAR(after.anchor->software_factor, std::pow(factor, 0.88), 1e-6);
  EXPECT_EQ(after.anchor->steps.front().of, "small");
  // Wider than that of the measured job itself, narrower than without.
  EXPECT_GT(after.iteration_interval.high / after.iteration_time.count(), 1.05);
  EXPECT_LT(after.iteration_interval.high / after.iteration_time.count(),
            before.iteration_interval.high / before.iteration_time.count());
  // What was resolved reads back as the same.
  EXPECT_EQ(scenario_of(scenario.resolved).resolved, scenario.resolved);
}

TEST(Anchor, SeveralTellMoreThanOne) {
  nlohmann::json asked = small_scenario(8);
  const auto anchor_of = [](int nodes, double factor) {
    const nlohmann::json ran = small_scenario(nodes);
    const Seconds predicted = simulate(scenario_of(ran), {}).prediction.iteration_time;
    return nlohmann::json{{"measured_iteration_time", exact_text(factor * predicted)},
                          {"scenario", ran}};
  };
  asked["anchor"] = anchor_of(2, 1.2);
  const Prediction by_one = simulate(scenario_of(asked), {}).prediction;
  asked["anchor"] = {anchor_of(2, 1.2), anchor_of(4, 1.1)};
  const Scenario scenario = scenario_of(asked);
  const Prediction by_two = simulate(scenario, {}).prediction;
  ASSERT_EQ(by_two.anchor->steps.size(), 2U);
  // Each of two weighs 0.88 / 1.88.
  const double product =
      by_two.anchor->steps[0].software_factor * by_two.anchor->steps[1].software_factor;
  EXPECT_NEAR(by_two.anchor->software_factor, std::pow(product, 0.88 / 1.88), 1e-9);
  const auto width = [](const Interval& interval) { return interval.high / interval.low; };
  EXPECT_LT(width(by_two.iteration_interval), width(by_one.iteration_interval));
  EXPECT_EQ(scenario_of(scenario.resolved).resolved, scenario.resolved);
}

TEST(Anchor, AJobOfOtherKernelsTellsLittleAndSaysSo) {
  nlohmann::json ran = small_scenario(2);
  ran["name"] = "eager";
  ran["strategy"]["attention"] = "unfused";
  nlohmann::json asked = small_scenario(2);
  const Prediction plain = simulate(scenario_of(asked), {}).prediction;
  const Seconds predicted = simulate(scenario_of(ran), {}).prediction.iteration_time;
  asked["anchor"] = {{"measured_iteration_time", exact_text(1.2 * predicted)}, {"scenario", ran}};
  const Prediction anchored = simulate(scenario_of(asked), {}).prediction;
  EXPECT_LT(anchored.iteration_time / plain.iteration_time, 1.06);
  EXPECT_THAT(anchored.warnings,
              testing::Contains("eager says little of this job: kernels differ, and of what such a "
                                "job is off by this one has 25 % too; measure one that is more "
                                "alike"));
}

TEST(Anchor, AStepThatNobodyWouldExpectIsWarnedOf) {
  nlohmann::json json = small_scenario(2);
  const Seconds predicted = simulate(scenario_of(json), {}).prediction.iteration_time;
  json["anchor"] = {{"measured_iteration_time", exact_text(4.0 * predicted)}};
  const Prediction anchored = simulate(scenario_of(json), {}).prediction;
  EXPECT_THAT(anchored.warnings,
              testing::Contains(HasSubstr("was measured to take 4 times what is predicted")));
}

TEST(Anchor, WrongOnesAreReported) {
  nlohmann::json json = small_scenario(2);
  json["anchor"] = {{"measured_iteration_time", 5.3}};
  EXPECT_THAT(anchor_problems(json).front().message, HasSubstr("a time needs a unit"));

  json["anchor"] = nlohmann::json::array();
  EXPECT_EQ(anchor_problems(json).front().message, "an empty list anchors nothing");
  json["anchor"] = {{{"measured_iteration_time", "5.3 s"}},
                    {{"measured_iteration_time", "5.3 s"}, {"scenario", small_scenario(4)}}};
  EXPECT_EQ(anchor_problems(json).front().message,
            "a step of this very scenario leaves nothing to learn from others");

  nlohmann::json nested = small_scenario(2);
  nested["anchor"] = {{"measured_iteration_time", "5.3 s"}};
  json["anchor"] = {{"measured_iteration_time", "5.3 s"}, {"scenario", nested}};
  EXPECT_EQ(anchor_problems(json).front().message, "what was measured has no anchor itself");

  nlohmann::json other = small_scenario(2);
  other["cluster"]["topology"]["node"]["accelerator"] = "a100-sxm-80gb";
  other["profile"] = "a100_sxm_80gb";
  json["anchor"] = {{"measured_iteration_time", "5.3 s"}, {"scenario", other}};
  EXPECT_EQ(anchor_problems(json).front().message,
            "an anchor tells of the accelerators it was measured on only");
}

}  // namespace
}  // namespace headway
