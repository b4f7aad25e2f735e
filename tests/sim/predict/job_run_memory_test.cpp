#include "sim/predict/job_run_memory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/engine/timeline_bytes.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

nlohmann::json with_failures(int spares) {
  nlohmann::json text = small_scenario(4);
  text["reliability"] = {
      {"duration", "10 d"},
      {"detection", "1 min"},
      {"restart", "4 min"},
      {"spare_nodes", spares},
      {"checkpoint", {{"storage_bandwidth", "10 GB/s"}}},
      {"failures",
       {{{"cause", "GPU"}, {"of", "gpu"}, {"mean_time", "30 d"}, {"repair_time", "1 d"}}}}};
  return text;
}

/// Tells whether a run was simulated: a known one is the same to the last bit whatever is asked.
double time_of(JobRunMemory& memory, const Scenario& scenario) {
  return memory.run(scenario, *scenario.strategy, 1).time().count();
}

TEST(JobRunMemory, WhatIsReckonedAfterwardsIsNoOtherJob) {
  JobRunMemory memory;
  Scenario first = scenario_of(with_failures(0));
  const double time = time_of(memory, first);
  EXPECT_EQ(time, run_job(first, *first.strategy, 1, 1).time().count());
  // Were it simulated, this profile would make it slower.
  Scenario second = scenario_of(with_failures(2));
  auto slower = std::make_shared<Profile>(*second.profile);
  slower->device.attention_efficiency.value *= 0.5;
  second.profile = slower;
  ASSERT_NE(run_job(second, *second.strategy, 1, 1).time().count(), time);
  EXPECT_EQ(time_of(memory, second), time);
}

TEST(JobRunMemory, AnotherJobIsSimulated) {
  JobRunMemory memory;
  const Scenario first = scenario_of(with_failures(0));
  const double time = time_of(memory, first);
  nlohmann::json text = with_failures(0);
  text["perturbations"]["slow_accelerators"] = {{{"accelerator", 0}, {"time_factor", 1.5}}};
  const Scenario slow = scenario_of(text);
  EXPECT_EQ(time_of(memory, slow), run_job(slow, *slow.strategy, 1, 1).time().count());
  EXPECT_GT(time_of(memory, slow), time);
  EXPECT_EQ(time_of(memory, first), time);
}

TEST(JobRunMemory, PredictionsAreTheSameWithAndWithout) {
  JobRunMemory memory;
  for (const int spares : {0, 1, 3}) {
    const Scenario scenario = scenario_of(with_failures(spares));
    const Simulation with = simulate(scenario, {.memory = &memory});
    const Simulation without = simulate(scenario, {});
    EXPECT_EQ(run_bytes({with.timeline, std::nullopt}),
              run_bytes({without.timeline, std::nullopt}));
    ASSERT_TRUE(with.prediction.scaling && without.prediction.scaling);
    EXPECT_EQ(with.prediction.scaling->efficiency, without.prediction.scaling->efficiency);
    EXPECT_EQ(with.prediction.reliability->goodput.mean,
              without.prediction.reliability->goodput.mean);
  }
}

}  // namespace
}  // namespace headway
