#include "sim/predict/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/reference/catalog.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

Prediction prediction_of(const nlohmann::json& scenario, const SimulateOptions& options = {}) {
  return simulate(scenario_of(scenario), options).prediction;
}

TEST(Simulate, BreakdownSumsToTheIteration) {
  nlohmann::json scenario = small_scenario(4);
  scenario["perturbations"] = {{"device_spread", 0.05}, {"operation_spread", 0.02}};
  const Prediction prediction = prediction_of(scenario);
  EXPECT_NEAR(prediction.breakdown.total() / prediction.iteration_time, 1.0, 1e-9);
}

TEST(Simulate, AWorkerThatDoesMostOfTheStepsIsToldOf) {
  // Behind slow NICs only the workers on the server's own host go on.
  nlohmann::json scenario = small_scenario(8);
  scenario["cluster"]["topology"]["node"]["nics"]["bandwidth"] = "100 Mb/s";
  scenario["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 16}};
  scenario["strategy"]["synchronisation"] = {
      {"scheme", "parameter_server"}, {"updates", "asynchronous"}, {"local_reduction", true}};
  EXPECT_THAT(prediction_of(scenario).warnings,
              testing::Contains(testing::HasSubstr("of all steps are of one of 8 workers")));
}

TEST(Simulate, EverySeedTellsTheSameBubble) {
  // 96 layers on 8 stages of 2 chunks, 96 micro-batches: 7 / (2 * 96) of the passes.
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(seed);
    Diagnostics diagnostics;
    const Scenario scenario = read_scenario("gpt3_175b_1024", {.seed = seed}, diagnostics);
    const TimeByCause time = simulate(scenario, {.scaling = false}).prediction.breakdown;
    const Seconds passes = time[Cause::compute] + time[Cause::tensor_parallel] +
                           time[Cause::recompute] + time[Cause::other];
    EXPECT_NEAR(time[Cause::pipeline_bubble] / passes, 7.0 / (2 * 96), 0.002);
  }
}

TEST(Simulate, CriticalPathLeadsFromStartToEndWithoutAGap) {
  const Prediction prediction = prediction_of(small_scenario(4));
  ASSERT_FALSE(prediction.critical_path.empty());
  Seconds at;
  for (const CriticalSegment& segment : prediction.critical_path) {
    EXPECT_NEAR(segment.start.count(), at.count(), 1e-12);
    at = segment.end;
  }
  EXPECT_EQ(at, prediction.iteration_time);
}

TEST(Simulate, SameSeedGivesTheSameResultAtAnyNumberOfJobs) {
  nlohmann::json scenario = small_scenario(4);
  scenario["perturbations"] = {{"device_spread", 0.05}, {"operation_spread", 0.02}};
  const Prediction one = prediction_of(scenario, {.jobs = 1});
  const Prediction four = prediction_of(scenario, {.jobs = 4});
  EXPECT_EQ(one.iteration_time, four.iteration_time);
  EXPECT_EQ(one.iteration_interval.high, four.iteration_interval.high);

  scenario["run"] = {{"seed", 77}};
  EXPECT_NE(prediction_of(scenario).iteration_time, one.iteration_time);
}

TEST(Simulate, WhatTurnsOutTooLateIsRefusedWhereItWasWritten) {
  nlohmann::json text = small_scenario(2);
  text["perturbations"]["pauses"] = {{{"every", "0.01 ns"}, {"lasts", "0.001 ns"}}};
  EXPECT_THAT(problems_in([&] { static_cast<void>(prediction_of(text)); }),
              testing::ContainsRegex("scenario.json:[0-9]+:[0-9]+   /perturbations/pauses/0/every"
                                     "[^~]*\"every\": \"0.01 ns\""));
}

TEST(Simulate, AJobThatDoesNotFitIsAnsweredWithoutSimulating) {
  nlohmann::json scenario = small_scenario(2);
  scenario["model"]["layers"] = 8000;  // 8000 * 12 * 1024^2 = 1e11 parameters over 4 ranks
  const Simulation simulation = simulate(scenario_of(scenario), {});
  EXPECT_FALSE(simulation.prediction.memory.fits);
  EXPECT_EQ(simulation.prediction.iteration_time, Seconds(0.0));
  EXPECT_TRUE(simulation.timeline.operation_end.empty());
}

TEST(Simulate, ScalingIsMeasuredAgainstTheSmallestJobThatFits) {
  const Prediction prediction = prediction_of(small_scenario(4));
  ASSERT_TRUE(prediction.scaling.has_value());
  EXPECT_EQ(prediction.scaling->accelerators, 4);  // tp 2, pp 2, one replica
  // Nothing varies and the reduction of gradients only adds time.
  EXPECT_LE(prediction.scaling->efficiency, 1.0);
  EXPECT_GT(prediction.scaling->efficiency, 0.5);

  const Prediction against_itself = prediction_of(small_scenario(4), {.reference_accelerators = 8});
  EXPECT_EQ(against_itself.scaling->efficiency, 1.0);
  // Of one replica there is no smaller job.
  EXPECT_FALSE(prediction_of(small_scenario(2)).scaling.has_value());
}

TEST(Simulate, AReferenceIsAsFastAsMostOfTheJobWhicheverNodeIsSlow) {
  const auto reference = [](int slow) {
    nlohmann::json scenario = small_scenario(4);
    scenario["strategy"] = {{"data_parallel", 8}, {"global_batch", 8}};
    scenario["perturbations"]["slow_nodes"] = {{{"node", slow}, {"time_factor", 3}}};
    return prediction_of(scenario).scaling.value();
  };
  EXPECT_DOUBLE_EQ(reference(0).iteration_time.count(), reference(3).iteration_time.count());
  EXPECT_LT(reference(0).efficiency, 0.7);  // all wait for it; transfers are no slower
}

// What a collective takes longer over a bad cable is nobody's exposed communication.
TEST(Simulate, WhatASlowCableCostsIsLostToSlowness) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {{"data_parallel", 8}, {"global_batch", 8}};
  const Prediction sound = prediction_of(scenario);
  nlohmann::json slow = scenario;
  slow["perturbations"]["slow_links"] = {{{"nic", "node2/nic1"}, {"bandwidth_factor", 0.01}}};
  nlohmann::json faulty = scenario;
  faulty["cluster"]["topology"]["faults"] = {
      {{"cable", {"node2/nic1", "switch"}}, {"bandwidth", "0.5 GB/s"}}};
  for (const nlohmann::json& text : {slow, faulty}) {
    const Prediction prediction = prediction_of(text);
    const Seconds lost = prediction.iteration_time - sound.iteration_time;
    EXPECT_GT(lost, sound.iteration_time);
    const TimeByCause& time = prediction.breakdown;
    EXPECT_NEAR(time[Cause::straggler_wait] / lost, 1.0, 1e-6);
    EXPECT_NEAR(time[Cause::data_parallel_exposed].count(),
                sound.breakdown[Cause::data_parallel_exposed].count(), 1e-9);
    EXPECT_NEAR(time.total().count(), prediction.iteration_time.count(), 1e-12);
    EXPECT_EQ(prediction.busiest_links[0].capacity, 0.5_GBps);
    EXPECT_DOUBLE_EQ(prediction.scaling->iteration_time.count(),
                     sound.scaling->iteration_time.count());
  }
}

TEST(Simulate, AnAlgorithmThatShardedGradientsDoNotHaveIsAWarning) {
  const auto warnings = [](int zero_stage, const char* algorithm) {
    nlohmann::json scenario = small_scenario(4);
    scenario["strategy"] = {{"data_parallel", 8}, {"global_batch", 8}, {"zero_stage", zero_stage}};
    scenario["run"] = {{"gradient_algorithm", algorithm}};
    return prediction_of(scenario).warnings;
  };
  EXPECT_THAT(warnings(1, "tree"),
              testing::Contains(testing::HasSubstr("cannot run by the gradient_algorithm")));
  EXPECT_THAT(warnings(1, "in_network"),
              testing::Contains(testing::HasSubstr("cannot run by the gradient_algorithm")));
  EXPECT_THAT(warnings(1, "ring"), testing::IsEmpty());
  EXPECT_THAT(warnings(0, "tree"), testing::IsEmpty());
}

TEST(Simulate, WhatEvenRoutesDoNotSeeOfEthernetIsTold) {
  const auto begins = [](const char* transport, const char* routing) {
    nlohmann::json scenario = small_scenario(4);
    nlohmann::json& topology = scenario["cluster"]["topology"];
    topology["fabric"] = {{"kind", "clos"},           {"attach", "rack"},
                          {"nodes_per_unit", 2},      {"units", 2},
                          {"leaf", {{"uplinks", 4}}}, {"spine", {{"switches", 2}}},
                          {"transport", transport}};
    topology["routing"] = {{"kind", routing}};
    return prediction_of(scenario).not_modelled.front();
  };
  EXPECT_THAT(begins("roce", "d-mod-k"), testing::StartsWith("collisions of hashed flows"));
  EXPECT_THAT(begins("roce", "ecmp"), testing::StartsWith("other collisions of hashed flows"));
  EXPECT_THAT(begins("roce", "adaptive"), testing::StartsWith("congestion control"));
  EXPECT_THAT(begins("infiniband", "d-mod-k"), testing::StartsWith("congestion control"));
}

TEST(Simulate, AReferenceOfFewerRanksThanAGroupOfShardsHasSmallerGroups) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {{"data_parallel", 8}, {"global_batch", 8}, {"zero_stage", 3}};
  const Prediction all = prediction_of(scenario);
  ASSERT_TRUE(all.scaling.has_value());
  EXPECT_EQ(all.scaling->accelerators, 1);

  scenario["strategy"]["shard_group"] = 4;
  EXPECT_EQ(prediction_of(scenario).scaling->accelerators, 1);
}

TEST(Simulate, AReferenceKeepsGroupsOfExpertsWhole) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"]["mixture_of_experts"] = {
      {"experts", 4}, {"experts_per_token", 2}, {"expert_hidden", 1024}};
  scenario["strategy"] = {{"data_parallel", 8}, {"global_batch", 8}, {"expert_parallel", 4}};
  const Prediction prediction = prediction_of(scenario);
  ASSERT_TRUE(prediction.scaling.has_value());
  EXPECT_EQ(prediction.scaling->accelerators, 4);
  EXPECT_THROW((void)prediction_of(scenario, {.reference_accelerators = 2}), InputError);
}

TEST(Simulate, EveryShippedScenarioRuns) {
  const std::vector<CatalogEntry> scenarios = catalog("scenarios");
  for (const CatalogEntry& entry : scenarios) {
    Diagnostics diagnostics;
    const Scenario scenario = read_scenario(entry.path, {.replicas = 1}, diagnostics);
    EXPECT_TRUE(simulate(scenario, {.jobs = 1}).prediction.memory.fits) << entry.name;
  }
  EXPECT_GE(scenarios.size(), 5U);
}

TEST(Simulate, AnImpossibleReferenceIsRefusedBeforeSimulating) {
  try {
    (void)prediction_of(small_scenario(4), {.reference_accelerators = 6});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "--reference 6 is not a size this job can be scaled down to");
    EXPECT_EQ(error.diagnostics().front().help, "use 4 or 8");
  }
}

TEST(Simulate, OneSlowAcceleratorSlowsTheJobByItsShareOfCompute) {
  nlohmann::json scenario = small_scenario(2);
  scenario["strategy"] = {{"tensor_parallel", 1},
                          {"micro_batch", 1},
                          {"global_batch", 16},
                          {"overlap_gradient_reduce", false}};
  const Prediction even = prediction_of(scenario);
  scenario["perturbations"]["slow_accelerators"] = {{{"accelerator", 3}, {"time_factor", 1.5}}};
  const Prediction slowed = prediction_of(scenario);
  // Data parallel only, gradients after the last backward pass: everything but the reduction and
  // what the host does is compute of the slow rank, and all wait for it.
  const Seconds kept = even.breakdown[Cause::data_parallel_exposed] + even.breakdown[Cause::other];
  EXPECT_GT(even.breakdown[Cause::other], Seconds(0.0));
  EXPECT_NEAR(slowed.iteration_time.count(), (1.5 * (even.iteration_time - kept) + kept).count(),
              1e-9);
}

TEST(Simulate, EveryScaleOfBandwidthHelpsOrDoesNothing) {
  nlohmann::json scenario = small_scenario(4);
  Seconds before(1e9);
  for (const char* bandwidth : {"5 GB/s", "10 GB/s", "20 GB/s", "40 GB/s", "80 GB/s"}) {
    scenario["cluster"]["topology"]["node"]["nics"]["bandwidth"] = bandwidth;
    const Seconds now = prediction_of(scenario).iteration_time;
    EXPECT_LE(now, before) << bandwidth;
    before = now;
  }
}

TEST(Simulate, PredictsNothingBeyondThePeakOfTheDevice) {
  const Prediction prediction = prediction_of(small_scenario(2));
  EXPECT_GT(prediction.mfu, 0.0);
  EXPECT_LT(prediction.mfu, 1.0);
  EXPECT_LE(prediction.mfu, prediction.mfu_whole_square);
}

TEST(Simulate, TheResolvedScenarioReadsBackAsTheSame) {
  const Scenario scenario = scenario_of(small_scenario(4));
  const Scenario again = scenario_of(scenario.resolved);
  EXPECT_EQ(again.resolved->dump(2), scenario.resolved->dump(2));
  EXPECT_EQ(simulate(again, {}).prediction.iteration_time,
            simulate(scenario, {}).prediction.iteration_time);
}

TEST(Simulate, ATopologyGivenBareResolvesLikeOneInAnObject) {
  nlohmann::json bare = small_scenario(4);
  bare["cluster"] = nlohmann::json(bare["cluster"]["topology"]);
  EXPECT_EQ((*scenario_of(bare).resolved)["cluster"],
            (*scenario_of(small_scenario(4)).resolved)["cluster"]);
}

}  // namespace
}  // namespace headway
