#include "sim/predict/what_if/network_extremes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/predict/what_if/what_if.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Data parallel on nodes 0 and 1 of eight, with a fabric as given.
nlohmann::json on_two_nodes(const nlohmann::json& fabric) {
  nlohmann::json text = small_scenario(8);
  text["cluster"]["job_nodes"] = 2;
  text["cluster"]["topology"]["fabric"] = fabric;
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 4}};
  return text;
}

/// So many nodes, from node 0 on and then from 3 on, send to node 2 as fast as they can.
void add_incast(nlohmann::json& text, int senders) {
  nlohmann::json traffic = nlohmann::json::array();
  for (int i = 0; i < senders; ++i) {
    traffic.push_back({{"from_node", i == 0 ? 0 : 2 + i}, {"to_node", 2}, {"rate", "1 TB/s"}});
  }
  text["perturbations"]["background_traffic"] = traffic;
}

struct Answered {
  Seconds time;
  std::vector<Sensitivity> extremes;
};

Answered answered(const nlohmann::json& text) {
  const Scenario scenario = scenario_of(text);
  const JobRun run = run_job(scenario, *scenario.strategy, 1, 1);
  return {run.time(), network_extremes(scenario, run, 1)};
}

TEST(NetworkExtremes, AJobThatSharesItsNicsWithAnIncastWaitsWithIt) {
  // What node 0 sends for others is held up at node 2 and has a quarter of its NIC: fair sharing
  // leaves gradients three quarters, paused they have as little.
  nlohmann::json text = on_two_nodes({{"kind", "single_switch"}, {"transport", "roce"}});
  const Seconds alone = answered(text).time;
  add_incast(text, 4);
  const Answered beside = answered(text);
  ASSERT_EQ(beside.extremes.size(), 1U);
  const Sensitivity& paused = beside.extremes[0];
  EXPECT_EQ(paused.name, "paused_links");
  EXPECT_GT(beside.time, alone);
  EXPECT_GT(paused.iteration_time, 1.05 * beside.time);
  EXPECT_DOUBLE_EQ(paused.speedup, beside.time / paused.iteration_time);
  // It is the run that "run": {"flows": "paused"} asks for.
  text["run"]["flows"] = "paused";
  EXPECT_DOUBLE_EQ(answered(text).time.count(), paused.iteration_time.count());
}

TEST(NetworkExtremes, AJobThatMeetsNobodyLosesNothing) {
  const Answered alone =
      answered(on_two_nodes({{"kind", "single_switch"}, {"transport", "infiniband"}}));
  ASSERT_EQ(alone.extremes.size(), 1U);
  EXPECT_EQ(alone.extremes[0].iteration_time, alone.time);
  EXPECT_EQ(alone.extremes[0].speedup, 1.0);
}

TEST(NetworkExtremes, FabricsThatDropPacketsPauseNobody) {
  for (const char* transport : {"tcp", "efa", "slingshot", "other"}) {
    EXPECT_TRUE(answered(on_two_nodes({{"kind", "single_switch"}, {"transport", transport}}))
                    .extremes.empty())
        << transport;
  }
}

/// Racks of one node with two NICs each, a flow each way over either of two spines.
nlohmann::json hashed_over_two_spines() {
  nlohmann::json text = on_two_nodes({{"kind", "clos"},
                                      {"transport", "roce"},
                                      {"attach", "rack"},
                                      {"nodes_per_unit", 1},
                                      {"leaf", {{"uplinks", 2}}},
                                      {"spine", {{"switches", 2}}}});
  text["cluster"]["topology"]["routing"] = {{"kind", "ecmp"}};
  return text;
}

TEST(NetworkExtremes, HashedFlowsMeetInTheWorstOfEightDraws) {
  // Each draw is the run that the seed by itself gives; the slowest of the eight is told, and of
  // two flows over two cables some draw puts both on one.
  nlohmann::json text = hashed_over_two_spines();
  Seconds slowest(0.0);
  Seconds fastest(1e9);
  for (int seed = 1; seed <= 8; ++seed) {
    text["cluster"]["topology"]["routing"]["seed"] = seed;
    const Seconds time = answered(text).time;
    slowest = max(slowest, time);
    fastest = min(fastest, time);
  }
  EXPECT_GT(slowest, 1.01 * fastest);
  const Answered hashed = answered(hashed_over_two_spines());
  ASSERT_EQ(hashed.extremes.size(), 2U);
  EXPECT_EQ(hashed.extremes[1].name, "hash_collisions");
  EXPECT_EQ(hashed.extremes[1].iteration_time, slowest);
  EXPECT_DOUBLE_EQ(hashed.extremes[1].speedup, hashed.time / slowest);
}

TEST(NetworkExtremes, FlowletsMayBeAsUnevenAsTheyWereSeen) {
  // A node a leaf, so that gradients cross the spines, which are as fast as the NICs: a shift takes
  // 269 where it takes 176 in the mean.
  nlohmann::json text = on_two_nodes({{"kind", "clos"},
                                      {"transport", "efa"},
                                      {"attach", "rack"},
                                      {"nodes_per_unit", 1},
                                      {"leaf", {{"uplinks", 2}}},
                                      {"spine", {{"switches", 2}}}});
  text["cluster"]["topology"]["routing"] = {{"kind", "adaptive"}};
  EXPECT_TRUE(answered(text).extremes.empty());
  text["cluster"]["topology"]["routing"]["spread"] = "flowlets";
  const Answered uneven = answered(text);
  ASSERT_EQ(uneven.extremes.size(), 1U);
  EXPECT_EQ(uneven.extremes[0].name, "uneven_flowlets");
  EXPECT_GT(uneven.extremes[0].iteration_time, uneven.time);
  // The resolved scenario is the same job.
  const nlohmann::json resolved = *scenario_of(text).resolved;
  EXPECT_EQ(resolved.at(nlohmann::json::json_pointer("/cluster/topology/routing/efficiency")),
            90.0 / 176.0);
  EXPECT_EQ(answered(resolved).time, uneven.time);
  text["cluster"]["topology"]["routing"]["efficiency"] = 90.0 / 269.0;
  EXPECT_NEAR(uneven.extremes[0].iteration_time / answered(text).time, 1.0, 1e-9);
}

TEST(NetworkExtremes, StandInWhatIfOnlyWhereEverythingIsAsked) {
  const Scenario scenario =
      scenario_of(on_two_nodes({{"kind", "single_switch"}, {"transport", "roce"}}));
  const JobRun run = run_job(scenario, *scenario.strategy, 1, 1);
  EXPECT_EQ(what_if(scenario, run, 1).network_extremes.size(), 1U);
  EXPECT_TRUE(what_if(scenario, run, 1, WhatIfExtent::stragglers).network_extremes.empty());
}

}  // namespace
}  // namespace headway
