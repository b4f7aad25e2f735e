#include "sim/engine/folded_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hand_workload.h"
#include "tests/support/random_job.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

std::optional<FoldedJob> folded(const Workload& workload, const Topology& topology,
                                const Perturbation& perturbation = {}) {
  return folded_job(workload, link_usage(workload.plans, topology, true, workload.nic_efficiency),
                    perturbation);
}

/// Four replicas of two stages.
SmallJob eight_groups() {
  SmallJob job(2);
  job.strategy.pipeline_parallel = 2;
  job.strategy.data_parallel = 4;
  job.set_micro_batches(4);
  return job;
}

TEST(FoldedJob, OneReplicaStandsForAllThatAreAlike) {
  const SmallJob job = eight_groups();
  const auto fold = folded(job.workload(), Topology());
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->workload.groups.size(), 2U);
  EXPECT_EQ(fold->folding.class_of_group, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(FoldedJob, ASlowOneIsItsOwnClassAndSoAreThoseThatItSendsTo) {
  SmallJob job = eight_groups();
  const auto fold = folded(job.workload(), Topology(), {.slow_accelerators = {{2, 1.5}}});
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->folding.class_of_group, (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 0, 1}));
}

TEST(FoldedJob, WhatIsDrawnIsNotFolded) {
  const SmallJob job = eight_groups();
  EXPECT_FALSE(folded(job.workload(), Topology(), {.device_spread = 0.01}));
}

TEST(FoldedJob, NothingIsFoldedThatDoesNotHalveTheGroups) {
  const SmallJob job = eight_groups();
  const Perturbation apart{
      .slow_accelerators = {{0, 1.1}, {1, 1.2}, {2, 1.3}, {3, 1.4}, {4, 1.5}, {5, 1.6}}};
  EXPECT_FALSE(folded(job.workload(), Topology(), apart));
}

TEST(FoldedJob, ALinkCarriesWhatItsClassCarries) {
  // Groups 0 and 1 each load link 0 twice and a link of their own once: one stands for both, link 0
  // carries 4 for each byte of its flow, the other one 1.
  const Topology topology = star(std::vector<Seconds>(3, Seconds(0.0)));
  Program program{
      .name = "both",
      .blocks = {{"block", time_of(Cause::compute, Seconds(1.0))}},
      .operations = {{.kind = OperationKind::compute, .block = 0},
                     {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = Bytes(1e9)},
                     {.kind = OperationKind::wait, .slot = 0}},
      .communicators = {"own"},
      .collective_slots = 1};
  Workload workload;
  workload.programs = {program};
  for (std::int32_t group = 0; group < 2; ++group) {
    workload.plans.push_back({.links = {{0, 2.0}, {2 * (group + 1), 1.0}}});
    workload.communicators.push_back({.name = "own", .members = 1, .plan = group});
    workload.groups.push_back(
        {.replica = group, .accelerators = {group}, .communicators = {group}});
  }
  const auto fold = folded_job(workload, link_usage(workload.plans, topology, false, 1.0), {});
  ASSERT_TRUE(fold);
  ASSERT_EQ(fold->usage.plans.size(), 1U);
  ASSERT_EQ(fold->usage.plans[0].size(), 2U);
  EXPECT_EQ(fold->usage.plans[0][0].weight, 4.0);
  EXPECT_EQ(fold->usage.plans[0][1].weight, 1.0);
  EXPECT_EQ(fold->workload.communicators[0].members, 1);
}

/// A job of many replicas on a fabric that has too little, maybe with one slow accelerator.
RandomJob large_random_job(std::uint64_t seed) {
  RandomJob job = random_job(seed);
  const int replicas = 4 * job.strategy.data_parallel;
  job.strategy.global_batch *= replicas / job.strategy.data_parallel;
  job.strategy.data_parallel = replicas;
  job.build_for_strategy();
  job.perturbation = {};
  if (seed % 2 == 0) job.perturbation.slow_accelerators[job.strategy.ranks() / 2] = 1.5;
  return job;
}

TEST(FoldedJob, TheWholeTimelineComesOut) {
  int folds = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomJob job = large_random_job(seed);
    const Workload workload = job.workload();
    const auto simulated = [&](const EngineOptions& options) {
      return simulate_workload(workload, job.cluster->topology, job.perturbation, options);
    };
    if (!folded(workload, job.cluster->topology, job.perturbation)) continue;
    ++folds;
    const Timeline fold = simulated({});
    const Timeline whole = simulated({.fold_alike_groups = false});
    const double within = 1e-9 * whole.finish;
    ASSERT_NEAR(fold.finish, whole.finish, within);
    ASSERT_EQ(fold.first_operation, whole.first_operation);
    ASSERT_EQ(fold.first_message, whole.first_message);
    for (std::size_t i = 0; i < whole.operation_end.size(); ++i) {
      ASSERT_NEAR(fold.operation_end[i], whole.operation_end[i], within) << "operation " << i;
    }
    for (std::size_t i = 0; i < whole.messages.size(); ++i) {
      if (std::isnan(whole.messages[i].sent)) continue;
      ASSERT_NEAR(fold.messages[i].sent, whole.messages[i].sent, within);
      ASSERT_NEAR(fold.messages[i].arrived, whole.messages[i].arrived, within);
    }
    for (std::size_t i = 0; i < whole.plan_bytes.size(); ++i) {
      ASSERT_DOUBLE_EQ(fold.plan_bytes[i], whole.plan_bytes[i]);
    }
    for (std::size_t id = 0; id < whole.collectives.size(); ++id) {
      ASSERT_EQ(fold.collectives[id].size(), whole.collectives[id].size());
      for (std::size_t i = 0; i < whole.collectives[id].size(); ++i) {
        const Timeline::Collective& one = fold.collectives[id][i];
        const Timeline::Collective& other = whole.collectives[id][i];
        ASSERT_NEAR(one.last_join, other.last_join, within);
        ASSERT_NEAR(one.end, other.end, within);
        ASSERT_EQ(one.amount, other.amount);
        const auto& joined =
            workload.groups[static_cast<std::size_t>(one.last_group)].communicators;
        ASSERT_TRUE(std::ranges::find(joined, static_cast<std::int32_t>(id)) != joined.end());
      }
    }
    EXPECT_LT(fold.counts.events, whole.counts.events);
  }
  EXPECT_GE(folds, 20);
}

}  // namespace
}  // namespace headway
