#include "sim/predict/what_if/mitigations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/predict/what_if/what_if.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Plain data parallelism over four nodes of two accelerators each.
Scenario plain(const nlohmann::json& perturbations) {
  nlohmann::json text = small_scenario(4);
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 32}};
  text["perturbations"].update(perturbations);
  return scenario_of(text);
}

WhatIf asked_mitigations(const Scenario& scenario) {
  return what_if(scenario, run_job(scenario, *scenario.strategy, 1, 1), 1);
}

const Sensitivity* find(const WhatIf& what_if, const std::string& name) {
  const auto found = std::ranges::find(what_if.mitigations, name, &Sensitivity::name);
  return found == what_if.mitigations.end() ? nullptr : &*found;
}

const nlohmann::json kOneSlowNode = {{"slow_nodes", {{{"node", 2}, {"time_factor", 1.5}}}}};

TEST(Mitigations, ASpareGivesBackWhatTheSlowNodeTakes) {
  const WhatIf result = asked_mitigations(plain(kOneSlowNode));
  const Sensitivity* spare = find(result, "spare_nodes");
  ASSERT_NE(spare, nullptr);
  EXPECT_EQ(spare->title, "node 2 replaced by a spare");
  EXPECT_EQ(spare->iteration_time, result.ideal);
  EXPECT_DOUBLE_EQ(spare->speedup, result.time / result.ideal);
}

/// However many there are and however little slower: the advice gives what removing the cause does.
TEST(Mitigations, SparesTakeThePlaceOfAllListedNodes) {
  nlohmann::json text = small_scenario(24);
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 48}};
  nlohmann::json& slow = text["perturbations"]["slow_nodes"];
  for (int i = 0; i < 10; ++i) slow.push_back({{"node", 2 * i}, {"time_factor", 1.03 + 0.01 * i}});
  text["perturbations"]["device_spread"] = 0.001;
  const WhatIf result = asked_mitigations(scenario_of(text));
  const Sensitivity* spare = find(result, "spare_nodes");
  ASSERT_NE(spare, nullptr);
  EXPECT_EQ(spare->title, "10 listed slow nodes replaced by spares");
  const auto removal =
      std::ranges::find(result.removals, "listed slow accelerators", &Removal::what);
  ASSERT_NE(removal, result.removals.end());
  EXPECT_EQ(spare->iteration_time, removal->without);
  EXPECT_EQ(find(result, "more_spare_nodes"), nullptr);
}

const nlohmann::json kSlowCable = {{"nic", "node2/nic1"}, {"bandwidth_factor", 0.01}};

// A spare comes with a cable of its own, and a node that is left out takes its cable along.
TEST(Mitigations, ANodeIsReplacedWithItsCable) {
  nlohmann::json perturbations = kOneSlowNode;
  perturbations["slow_links"] = {kSlowCable};
  const WhatIf both = asked_mitigations(plain(perturbations));
  const WhatIf slow_alone = asked_mitigations(plain(kOneSlowNode));
  EXPECT_GT(both.time, 1.5 * slow_alone.time);
  const Sensitivity* spare = find(both, "spare_nodes");
  ASSERT_NE(spare, nullptr);
  EXPECT_EQ(spare->title, "node 2 replaced by a spare");
  EXPECT_EQ(spare->iteration_time, both.ideal);
  EXPECT_EQ(find(both, "fewer_replicas")->iteration_time,
            find(slow_alone, "fewer_replicas")->iteration_time);
  const Sensitivity* mended = find(both, "mended_links");
  ASSERT_NE(mended, nullptr);
  EXPECT_EQ(mended->title, "cable of node2/nic1 mended");
  EXPECT_EQ(mended->iteration_time, slow_alone.time);
  const auto node = std::ranges::find(both.removals, "node 2", &Removal::what);
  ASSERT_NE(node, both.removals.end());
  EXPECT_EQ(node->without, both.ideal);
}

TEST(Mitigations, ANodeWithABadCableIsNamedThoughItComputesAsFastAsOthers) {
  const WhatIf result = asked_mitigations(plain({{"slow_links", {kSlowCable}}}));
  EXPECT_EQ(find(result, "spare_nodes")->title, "node 2 replaced by a spare");
  EXPECT_EQ(find(result, "spare_nodes")->iteration_time, result.ideal);
  EXPECT_NE(std::ranges::find(result.removals, "node 2", &Removal::what), result.removals.end());
}

TEST(Mitigations, OfSeveralSlowCablesTheWorstIsACaseOfItsOwn) {
  const nlohmann::json other = {{"nic", "node0/nic0"}, {"bandwidth_factor", 0.5}};
  const WhatIf result = asked_mitigations(plain({{"slow_links", {other, kSlowCable}}}));
  EXPECT_EQ(find(result, "mended_links")->title, "2 slow cables mended");
  EXPECT_EQ(find(result, "mended_links")->iteration_time, result.ideal);
  const auto link = std::ranges::find(result.removals, RemovalKind::link, &Removal::kind);
  ASSERT_NE(link, result.removals.end());
  EXPECT_EQ(link->what, "cable of node2/nic1");
  const WhatIf one = asked_mitigations(plain({{"slow_links", {other}}}));
  EXPECT_EQ(link->without, one.time);
}

/// As slow links, faults of the topology go with the node that has them; those elsewhere stay.
TEST(Mitigations, FaultsOfANodeGoWithIt) {
  const auto faulty = [](const nlohmann::json& faults) {
    nlohmann::json text = small_scenario(4);
    text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 32}};
    text["cluster"]["topology"]["faults"] = faults;
    return asked_mitigations(scenario_of(text));
  };
  const nlohmann::json narrow = {{"cable", {"node1/nic0", "switch"}}, {"bandwidth", "1 GB/s"}};
  const nlohmann::json down = {{"nic", "node3/nic1"}};
  const WhatIf one = faulty(nlohmann::json::array({narrow}));
  EXPECT_EQ(find(one, "spare_nodes")->title, "node 1 replaced by a spare");
  EXPECT_EQ(find(one, "spare_nodes")->iteration_time, one.ideal);
  EXPECT_EQ(find(one, "mended_links")->title, "1 fault of the fabric mended");
  const WhatIf both = faulty(nlohmann::json::array({narrow, down}));
  EXPECT_EQ(find(both, "spare_nodes")->title, "2 listed slow nodes replaced by spares");
  const auto node = std::ranges::find(both.removals, "node 1", &Removal::what);
  ASSERT_NE(node, both.removals.end());
  EXPECT_EQ(node->without, faulty(nlohmann::json::array({down})).time);
}

TEST(Mitigations, NodesThatAreSlowForAWhileAreReplacedBesideListedOnes) {
  nlohmann::json perturbations = kOneSlowNode;
  perturbations["slow_episodes"] = {{{"node", 0}, {"time_factor", 1.4}}};
  const WhatIf result = asked_mitigations(plain(perturbations));
  EXPECT_EQ(find(result, "spare_nodes")->title, "node 2 replaced by a spare");
  const Sensitivity* more = find(result, "more_spare_nodes");
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->title, "1 listed and 1 other slow nodes replaced by spares");
  EXPECT_GT(more->speedup, find(result, "spare_nodes")->speedup);
}

TEST(Mitigations, LeavingTheNodeOutCostsItsShareOfTheWork) {
  const WhatIf result = asked_mitigations(plain(kOneSlowNode));
  const Sensitivity* fewer = find(result, "fewer_replicas");
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->title, "slow nodes left out: 6 replicas on 6 GPUs");
  EXPECT_NEAR(fewer->speedup, 6.0 / 8.0 * (result.time / fewer->iteration_time), 1e-12);
  EXPECT_LT(fewer->iteration_time, result.time);
}

// Two accelerators of a node add up their gradients and are one worker of the servers.
TEST(Mitigations, AWorkerOfServersIsLeftOutWithAllItsReplicas) {
  nlohmann::json text = small_scenario(4);
  text["strategy"] = {{"preset", "byteps"}, {"micro_batch", 1}, {"global_batch", 32}};
  text["perturbations"].update(kOneSlowNode);
  const WhatIf result = asked_mitigations(scenario_of(text));
  const Sensitivity* fewer = find(result, "fewer_replicas");
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->title, "slow nodes left out: 6 replicas on 6 GPUs");
}

// A smaller job stands on the first nodes, two of which are of the first kind.
TEST(Mitigations, ASlowNodeOfTheFirstKindIsNotLeftOutAsIfItWereOfTheLast) {
  nlohmann::json text = headway::mixed_scenario("a100-sxm-80gb", "a100_sxm_80gb");
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 32}};
  for (const int node : {0, 3}) {
    text["perturbations"]["slow_nodes"] = {{{"node", node}, {"time_factor", 1.5}}};
    const WhatIf result = asked_mitigations(scenario_of(text));
    EXPECT_NE(find(result, "spare_nodes"), nullptr) << node;
    EXPECT_EQ(find(result, "fewer_replicas") != nullptr, node == 3) << node;
  }
}

TEST(Mitigations, WaitingForAllButOneHelpsAgainstOneSlowAcceleratorOnly) {
  // 8 replicas: 5 % of them are one. With two slow ones the other is waited for.
  const auto one = asked_mitigations(
      plain({{"slow_accelerators", {{{"accelerator", 3}, {"time_factor", 1.5}}}}}));
  const Sensitivity* backup = find(one, "backup_replicas");
  ASSERT_NE(backup, nullptr);
  EXPECT_EQ(backup->title, "not waiting for the last 1 of 8 replicas");
  EXPECT_NEAR(backup->iteration_time / one.ideal, 1.0, 1e-9);
  EXPECT_NEAR(backup->speedup, 7.0 / 8.0 * (one.time / one.ideal), 1e-9);
  const auto two = asked_mitigations(plain(kOneSlowNode));
  EXPECT_NEAR(find(two, "backup_replicas")->iteration_time / two.time, 1.0, 1e-9);
}

TEST(Mitigations, LocalUpdatesSaveSevenOfEightExchanges) {
  // Equal ranks: an iteration is local work and the exchange that is seen.
  const Scenario scenario = plain(nlohmann::json::object());
  const WhatIf result = asked_mitigations(scenario);
  EXPECT_EQ(find(result, "spare_nodes"), nullptr);
  EXPECT_EQ(find(result, "fewer_replicas"), nullptr);
  const Sensitivity* local = find(result, "local_updates");
  ASSERT_NE(local, nullptr);
  Scenario alone = scenario;
  alone.change_strategy([](Strategy& strategy) {
    strategy.data_parallel = 1;
    strategy.global_batch = 4;
  });
  const Seconds work = run_job(alone, *alone.strategy, 1, 1).time();
  EXPECT_NEAR(local->iteration_time / ((7.0 / 8.0) * work + (1.0 / 8.0) * result.time), 1.0, 1e-9);
}

TEST(Mitigations, ShardedReplicasNeedEachOther) {
  nlohmann::json text = small_scenario(4);
  text["strategy"] = {{"preset", "pytorch-fsdp"}, {"micro_batch", 1}, {"global_batch", 32}};
  text["perturbations"].update(kOneSlowNode);
  const WhatIf result = asked_mitigations(scenario_of(text));
  EXPECT_EQ(find(result, "backup_replicas"), nullptr);
  EXPECT_EQ(find(result, "local_updates"), nullptr);
  EXPECT_NE(find(result, "spare_nodes"), nullptr);
}

TEST(Mitigations, AreOrderedByWhatTheyGive) {
  const WhatIf result = asked_mitigations(plain(kOneSlowNode));
  ASSERT_EQ(result.mitigations.size(), 4U);
  for (std::size_t i = 1; i < result.mitigations.size(); ++i) {
    EXPECT_GE(result.mitigations[i - 1].speedup, result.mitigations[i].speedup);
  }
}

}  // namespace
}  // namespace headway
