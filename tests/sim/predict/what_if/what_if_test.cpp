#include "sim/predict/what_if/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// The small scenario on four nodes: two stages, two replicas; stage 0 is nodes 0 and 1.
Scenario small(const nlohmann::json& perturbations) {
  nlohmann::json text = small_scenario(4);
  text["perturbations"].update(perturbations);
  return scenario_of(text);
}

WhatIf asked(const Scenario& scenario) {
  return what_if(scenario, run_job(scenario, *scenario.strategy, scenario.run.replicas, 1), 1);
}

const Removal* find(const WhatIf& what_if, RemovalKind kind, const std::string& what) {
  const auto found = std::ranges::find_if(what_if.removals, [&](const Removal& removal) {
    return removal.kind == kind && removal.what == what;
  });
  return found == what_if.removals.end() ? nullptr : &*found;
}

TEST(WhatIf, TheOneSlowNodeIsNamedAndItsRemovalGivesBackAllThatIsLost) {
  const nlohmann::json none = nlohmann::json::object();
  const double sound = run_job(small(none), *small(none).strategy, 1, 1).time().count();
  const WhatIf result = asked(small({{"slow_nodes", {{{"node", 2}, {"time_factor", 1.5}}}}}));

  EXPECT_EQ(result.ideal.count(), sound);  // to the last bit
  EXPECT_GT(result.slowdown(), 1.05);
  const Removal* node = find(result, RemovalKind::node, "node 2");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->without.count(), sound);
  EXPECT_EQ(node->gain, result.time - result.ideal);
  const Removal* cause = find(result, RemovalKind::cause, "listed slow accelerators");
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->without.count(), sound);
  // Ranks are placed stage by stage: nodes 2 and 3 are stage 1.
  EXPECT_NE(find(result, RemovalKind::stage, "stage 1"), nullptr);
  EXPECT_EQ(find(result, RemovalKind::stage, "stage 0"), nullptr);
  const auto nodes = std::ranges::count(result.removals, RemovalKind::node, &Removal::kind);
  EXPECT_EQ(nodes, 1);
}

TEST(WhatIf, ASlownessThatAllShareIsNoStragglers) {
  nlohmann::json all = nlohmann::json::array();
  for (int node = 0; node < 4; ++node) all.push_back({{"node", node}, {"time_factor", 1.5}});
  const WhatIf result = asked(small({{"slow_nodes", all}}));
  EXPECT_EQ(result.ideal, result.time);
  EXPECT_TRUE(result.removals.empty());
  EXPECT_EQ(result.wasted_share(), 0.0);
}

TEST(WhatIf, AKindOfOperationThatIsNotSlowedTakesItsShareOfTheGain) {
  // All that is slow is either forward, backward or optimizer; without all of it nothing is.
  const WhatIf result = asked(small({{"slow_nodes", {{{"node", 0}, {"time_factor", 2.0}}}}}));
  const Removal* forward = find(result, RemovalKind::operation, "forward");
  const Removal* backward = find(result, RemovalKind::operation, "backward");
  ASSERT_NE(forward, nullptr);
  ASSERT_NE(backward, nullptr);
  EXPECT_LT(forward->gain, result.time - result.ideal);
  EXPECT_GT(backward->gain, forward->gain);  // twice the work
}

TEST(WhatIf, DrawnDifferencesAreCausesOfTheirOwn) {
  Scenario scenario = small({{"device_spread", 0.1}, {"operation_spread", 0.05}});
  const WhatIf result = asked(scenario);
  EXPECT_NE(find(result, RemovalKind::cause, "drawn device speed"), nullptr);
  EXPECT_NE(find(result, RemovalKind::cause, "jitter of operations"), nullptr);
  EXPECT_EQ(find(result, RemovalKind::cause, "listed slow accelerators"), nullptr);
  EXPECT_LT(result.ideal, result.time);
}

TEST(WhatIf, OfStragglersAloneTheWorstIsNamed) {
  const Scenario scenario = small({{"slow_nodes", {{{"node", 2}, {"time_factor", 1.5}}}}});
  EXPECT_TRUE(scenario.perturbation.lists_slowness());
  EXPECT_FALSE(small({{"device_spread", 0.1}}).perturbation.lists_slowness());
  const WhatIf result =
      what_if(scenario, run_job(scenario, *scenario.strategy, 1, 1), 1, WhatIfExtent::stragglers);
  const Removal* node = find(result, RemovalKind::node, "node 2");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->without, result.ideal);
  EXPECT_FALSE(result.mitigations.empty());
  EXPECT_TRUE(result.sensitivities.empty());
}

TEST(WhatIf, AFaultOfTheFabricIsACause) {
  nlohmann::json text = small_scenario(4);
  text["cluster"]["topology"].erase("schema");  // as parts of a scenario may leave it out
  text["cluster"]["topology"]["faults"] = {
      {{"cable", {"node1/nic0", "switch"}}, {"bandwidth", "1 GB/s"}}};
  const WhatIf result = asked(scenario_of(text));
  const nlohmann::json none = nlohmann::json::object();
  const double sound = run_job(small(none), *small(none).strategy, 1, 1).time().count();
  EXPECT_EQ(result.ideal.count(), sound);
  const Removal* fault = find(result, RemovalKind::cause, "faults of the fabric");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->without.count(), sound);
}

TEST(WhatIf, SensitivitiesAreOrderedAndNoneMakesTheJobSlower) {
  const WhatIf result = asked(small({{"slow_nodes", {{{"node", 2}, {"time_factor", 1.5}}}}}));
  ASSERT_EQ(result.sensitivities.size(), 6U);
  for (std::size_t i = 1; i < result.sensitivities.size(); ++i) {
    EXPECT_GE(result.sensitivities[i - 1].speedup, result.sensitivities[i].speedup);
  }
  EXPECT_GE(result.sensitivities.back().speedup, 1.0 - 1e-12);
}

TEST(WhatIf, WasteIsCountedInGpuHours) {
  // 64 accelerators, 10 s of which 8 are ideal: S = 1.25, a fifth of 64 x 24 hours is lost a day,
  // 2 s x 64 / 3600 an iteration.
  const WhatIf result{.time = 10_s, .ideal = 8_s, .accelerators = 64};
  EXPECT_DOUBLE_EQ(result.slowdown(), 1.25);
  EXPECT_DOUBLE_EQ(result.wasted_share(), 0.2);
  EXPECT_DOUBLE_EQ(result.gpu_hours_a_day(2_s), 307.2);
  EXPECT_DOUBLE_EQ(result.gpu_hours_an_iteration(2_s), 128.0 / 3600.0);
}

TEST(WhatIf, StagesThatHaveMoreToDoAreFound) {
  const nlohmann::json none = nlohmann::json::object();
  const WhatIf result = asked(small(none));
  // Equal layers, but the last stage has the output head and the loss besides.
  EXPECT_EQ(result.slowest_stage, 1);
  EXPECT_GT(result.stage_imbalance, 1.0);
  EXPECT_LT(result.stage_imbalance, 2.0);
}

Scenario reading(const char* storage, int prefetch) {
  nlohmann::json text = small_scenario(4);
  text["perturbations"]["slow_nodes"] = {{{"node", 2}, {"time_factor", 1.5}}};
  text["data_loading"] = {{"sample_size", "1 MB"},
                          {"samples", 100000},
                          {"storage_bandwidth", storage},
                          {"prefetch", prefetch}};
  return scenario_of(text);
}

TEST(WhatIf, NothingHelpsAJobThatWaitsForSamplesButMoreOfThem) {
  // Reading takes longer than anything else, and is done ahead.
  const Scenario scenario = reading("1 MB/s", 2);
  const double read = static_cast<double>(scenario.strategy->global_batch);  // seconds
  const WhatIf result = asked(scenario);
  EXPECT_DOUBLE_EQ(result.time.count(), read);
  EXPECT_TRUE(result.removals.empty());
  EXPECT_EQ(result.wasted_share(), 0.0);
  for (const Sensitivity& one : result.sensitivities) {
    EXPECT_DOUBLE_EQ(one.speedup, 1.0) << one.title;
    const double work = one.name == "micro_batches" ? 2.0 : 1.0;
    EXPECT_DOUBLE_EQ(one.iteration_time.count(), work * read) << one.title;
  }
  EXPECT_FALSE(result.mitigations.empty());
  for (const Sensitivity& one : result.mitigations) {
    EXPECT_NEAR(one.speedup, 1.0, 1e-12) << one.title;
  }
}

TEST(WhatIf, WhatIsNotReadAheadIsReadWhateverElseIsBetter) {
  const Scenario scenario = reading("1 GB/s", 0);
  const Seconds read(1e-3 * static_cast<double>(scenario.strategy->global_batch));
  const WhatIf with = asked(scenario);
  Scenario alone = scenario;
  alone.input.reset();
  const WhatIf without = asked(alone);
  EXPECT_NEAR((with.time - without.time - read).count(), 0.0, 1e-12);
  ASSERT_EQ(with.removals.size(), without.removals.size());
  for (std::size_t i = 0; i < with.removals.size(); ++i) {
    EXPECT_NEAR((with.removals[i].gain - without.removals[i].gain).count(), 0.0, 1e-12);
  }
}

// Two workers of one accelerator read 32 samples of 40 MB a step from one host, whose NIC of 1 GB/s
// they wait for: faster NICs bring samples sooner, a faster accelerator does not.
TEST(WhatIf, SamplesComeOverNicsThatAreFaster) {
  nlohmann::json text = small_scenario(4);
  text["model"] = {
      {"layers", {{{"products", {{{"outputs", 5000}, {"inputs", 5000}}}}, {"output", "20 KB"}}}}};
  nlohmann::json& node = text["cluster"]["topology"]["node"];
  node["accelerators"] = 1;
  node.erase("scale_up");
  node["nics"] = {{"count", 1}, {"bandwidth", "1 GB/s"}, {"latency", "0 us"}};
  text["cluster"]["job_nodes"] = 2;
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 16}, {"global_batch", 32}};
  text["data_loading"] = {{"sample_size", "40 MB"},
                          {"samples", 10000},
                          {"storage_bandwidth", "100 GB/s"},
                          {"storage_nodes", 1}};
  const WhatIf result = asked(scenario_of(text));
  const auto speedup_by = [&](std::string_view name) {
    return std::ranges::find(result.sensitivities, name, &Sensitivity::name)->speedup;
  };
  EXPECT_NEAR(speedup_by("nic_bandwidth"), 2.0, 1e-3);
  EXPECT_NEAR(speedup_by("gemm_rate"), 1.0, 1e-3);
  EXPECT_NEAR(speedup_by("micro_batches"), 1.0, 1e-3);
}

}  // namespace
}  // namespace headway
