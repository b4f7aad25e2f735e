#include "sim/plan/cluster_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/predict/simulate.h"
#include "sim/result/decision/run_time.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

constexpr Seconds kDay(86400.0);

/// Eight accelerators, two a node, with enough work for more of them.
nlohmann::json large_layers() {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"]["hidden"] = 4096;
  scenario["model"]["ffn_hidden"] = 16384;
  return scenario;
}

nlohmann::json with_failures() {
  nlohmann::json scenario = large_layers();
  scenario["reliability"] = {
      {"duration", "7 d"},
      {"runs", 20},
      {"detection", "5 min"},
      {"restart", "5 min"},
      {"reprovision", "1 h"},
      {"checkpoint", {{"storage_bandwidth", "10 GB/s"}}},
      {"failures",
       {{{"cause", "node"}, {"of", "node"}, {"mean_time", "30 d"}, {"repair_time", "1 h"}}}}};
  return scenario;
}

/// A scenario on disk, and what its own cluster and strategy train in a second.
struct Study {
  explicit Study(const nlohmann::json& scenario) {
    options.leaders.path = scratch.write("scenario.json", scenario.dump());
    base = read({});
    tokens_per_second = simulate(base, {.scaling = false}).prediction.tokens_per_second;
  }

  [[nodiscard]] Scenario read(const ScenarioOptions& with) const {
    Diagnostics diagnostics;
    return read_scenario(options.leaders.path, with, diagnostics);
  }
  /// To train in a day what the scenario's own cluster trains in so many.
  [[nodiscard]] TrainingGoal goal(double days) const {
    return {.tokens = days * tokens_per_second * kDay.count(), .deadline = kDay};
  }
  [[nodiscard]] ClusterPlan plan(const TrainingGoal& goal) const {
    Diagnostics diagnostics;
    return plan_cluster(options, goal, diagnostics);
  }

  ScratchFolder scratch;
  PlanOptions options;
  Scenario base;
  double tokens_per_second = 0.0;
};

/// Every size that can run, simulated one after the other.
std::optional<std::int64_t> smallest_by_brute_force(const Study& study, const TrainingGoal& goal) {
  const ClusterSizes judge(study.base, study.options, goal);
  for (std::int64_t nodes = judge.least_nodes(kDay); nodes <= judge.most_nodes(kDay); ++nodes) {
    ClusterSize size = judge.estimates({nodes}).front();
    if (!size.can_run()) continue;
    judge.simulate(size);
    if (size.meets(kDay)) return size.accelerators;
  }
  return std::nullopt;
}

TEST(ClusterPlan, FindsTheSmallestOfAllSizes) {
  const Study study(large_layers());
  for (const double days : {0.5, 1.7}) {
    const TrainingGoal goal = study.goal(days);
    const ClusterPlan plan = study.plan(goal);
    ASSERT_NE(plan.found(), nullptr) << days;
    EXPECT_EQ(plan.found()->accelerators, smallest_by_brute_force(study, goal)) << days;
  }
}

/// On a fabric that has room for so many nodes.
constexpr std::int64_t kRoom = 12;
nlohmann::json with_little_room(nlohmann::json scenario) {
  scenario["cluster"]["topology"]["fabric"] = {{"kind", "clos"},
                                               {"attach", "rail"},
                                               {"units", 3},
                                               {"nodes_per_unit", 4},
                                               {"leaf", {{"uplinks", 4}, {"ports", 8}}},
                                               {"spine", {{"switches", 4}}}};
  return scenario;
}

/// Layers so small that accelerators idle, the more the more there are: the peak says nothing of
/// how many a deadline takes.
TEST(ClusterPlan, AStricterDeadlineTakesNoFewerAndFindsThemWhereThereAreSome) {
  const Study study(with_little_room(small_scenario(4)));
  const TrainingGoal day = study.goal(1.0);
  const ClusterSizes judge(study.base, study.options, day);
  EXPECT_EQ(judge.why_no_room(kRoom), "");
  EXPECT_EQ(judge.why_no_room(kRoom + 1), "the fabric has room for 12 nodes, not 13");
  std::vector<ClusterSize> sizes;
  for (std::int64_t nodes = 1; nodes <= kRoom; ++nodes) {
    ClusterSize size = judge.estimates({nodes}).front();
    if (!size.can_run()) continue;
    judge.simulate(size);
    sizes.push_back(std::move(size));
  }
  const auto needed = [](const ClusterSize& size) { return size.runs.front().needed; };
  const Seconds least = needed(*std::ranges::min_element(sizes, {}, needed));
  const Seconds most = needed(*std::ranges::max_element(sizes, {}, needed));
  // More than eight times what the peak would take are needed for the fastest.
  EXPECT_LT(judge.most_nodes(least), sizes.back().nodes);

  std::int64_t before = 0;
  for (Seconds deadline = 1.1 * most; deadline > 0.85 * least; deadline = 0.87 * deadline) {
    TrainingGoal goal = day;
    goal.deadline = deadline;
    const auto smallest =
        std::ranges::find_if(sizes, [&](const ClusterSize& size) { return size.meets(deadline); });
    const ClusterPlan plan = study.plan(goal);
    if (smallest == sizes.end()) {
      EXPECT_EQ(plan.found(), nullptr) << deadline.count();
      // What would do is no longer than what any size takes, but for a step of later deadlines.
      ASSERT_TRUE(plan.nearest.has_value()) << deadline.count();
      EXPECT_LE(plan.nearest->deadline, 1.25 * least);
      continue;
    }
    ASSERT_NE(plan.found(), nullptr) << deadline.count();
    EXPECT_EQ(plan.found()->nodes, smallest->nodes) << deadline.count();
    EXPECT_GE(plan.found()->nodes, before);
    before = plan.found()->nodes;
  }
  EXPECT_GT(before, 4);
}

/// As many samples as images, not as patches.
TEST(ClusterPlan, AModelWithoutTokensCountsSamples) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = "vit_b_16";
  scenario["strategy"] = {{"micro_batch", 8}, {"global_batch", 512}};
  const Study study(scenario);
  const TrainingGoal goal{.tokens = 1e8, .deadline = kDay};
  const ClusterSizes judge(study.base, study.options, goal);
  ClusterSize size = judge.estimates({4}).front();
  judge.simulate(size);
  const ClusterRun& run = size.runs.front();
  EXPECT_NEAR(run.training / (1e8 / 512 * run.leader.time()), 1.0, 1e-9);
  // No failures: half of all runs are through by then.
  EXPECT_NEAR(run.median / run.training, 1.0, 0.01);
}

TEST(ClusterPlan, TheAnswerIsWhatSimulateSaysOfIt) {
  const Study study(with_failures());
  const TrainingGoal goal = study.goal(1.2);
  const ClusterPlan plan = study.plan(goal);
  ASSERT_NE(plan.found(), nullptr);
  const ClusterRun& run = plan.found()->runs.front();
  const Scenario found = study.read(run.leader.options);
  EXPECT_EQ(found.strategy->ranks(), plan.found()->accelerators);
  const Prediction prediction = simulate(found, {.scaling = false}).prediction;
  EXPECT_EQ(prediction.iteration_time, run.leader.time());
  // Of this run's tokens, not of the scenario's seven days.
  ASSERT_EQ(prediction.reliability->time_to_train_s.size(), 20U);
  EXPECT_LE(run.needed, goal.deadline);
  EXPECT_GE(run.probability, goal.probability);
  // The 95th percentile of the time is what simulate has.
  ASSERT_EQ(goal.probability, 0.95);
  EXPECT_NEAR(run_time(prediction)->interval().high, run.needed.count(), 1e-9 * run.needed.count());
  EXPECT_GT(run.median, run.training);
  EXPECT_GT(run.needed, run.median);
}

TEST(ClusterPlan, FailuresTakeTime) {
  const Study without(large_layers());
  const Study with(with_failures());
  const TrainingGoal goal = without.goal(1.0);
  const ClusterSizes judge_without(without.base, without.options, goal);
  const ClusterSizes judge_with(with.base, with.options, goal);
  ClusterSize a = judge_without.estimates({4}).front();
  ClusterSize b = judge_with.estimates({4}).front();
  judge_without.simulate(a);
  judge_with.simulate(b);
  EXPECT_EQ(a.runs.front().training, b.runs.front().training);
  EXPECT_GT(b.runs.front().needed, a.runs.front().needed);
}

TEST(ClusterPlan, WhatWouldBeInTimeIs) {
  const Study study(with_little_room(large_layers()));
  const TrainingGoal goal = study.goal(20.0);
  const ClusterPlan plan = study.plan(goal);
  EXPECT_EQ(plan.found(), nullptr);
  ASSERT_TRUE(plan.nearest.has_value());
  EXPECT_LT(plan.nearest->probability, goal.probability);

  TrainingGoal later = goal;
  later.deadline = 1.001 * plan.nearest->deadline;
  EXPECT_NE(study.plan(later).found(), nullptr);
  TrainingGoal less = goal;
  less.tokens = 0.999 * plan.nearest->tokens;
  EXPECT_NE(study.plan(less).found(), nullptr);
}

TEST(ClusterPlan, ABatchThatMayChangeLetsMoreSizesRun) {
  const Study study(large_layers());
  TrainingGoal goal = study.goal(1.0);
  const auto runnable = [&] {
    const ClusterSizes judge(study.base, study.options, goal);
    std::int64_t count = 0;
    for (const ClusterSize& size : judge.estimates({4, 5, 6, 7, 8, 9, 10, 11})) {
      if (size.can_run()) ++count;
      EXPECT_LE(std::abs(size.global_batch - 32), goal.batch_within * 32);
    }
    return count;
  };
  const std::int64_t before = runnable();
  goal.batch_within = 0.25;
  EXPECT_GT(runnable(), before);
}

TEST(ClusterPlan, TheCheapestCostsNoMoreThanTheSmallest) {
  nlohmann::json scenario = large_layers();
  scenario["cost"] = {{"usd_per_gpu_hour", 2.0}, {"tokens", 1.0}};
  const Study study(scenario);
  TrainingGoal goal = study.goal(1.0);
  const ClusterPlan smallest = study.plan(goal);
  goal.minimize = TrainingGoal::Minimize::cost;
  const ClusterPlan cheapest = study.plan(goal);
  ASSERT_NE(smallest.found(), nullptr);
  ASSERT_NE(cheapest.found(), nullptr);
  EXPECT_LE(cheapest.found()->runs.front().usd.value(), smallest.found()->runs.front().usd.value());
  // 2 dollars an hour for each accelerator, for the time that training takes.
  const ClusterRun& run = smallest.found()->runs.front();
  EXPECT_NEAR(
      run.usd.value(),
      2.0 * static_cast<double>(smallest.found()->accelerators) * run.training.count() / 3600,
      1e-9 * run.usd.value());
}

/// A size that takes 12 days, 150 dollars and 2.2 MW.
ClusterSize taking_too_much() {
  ClusterSize size;
  size.power = Watts(2.2e6);
  ClusterRun& run = size.runs.emplace_back();
  run.needed = 12.0 * kDay;
  run.outlay_interval = Interval{.low = 90.0, .high = 150.0};
  return size;
}

TEST(ClusterPlan, TheDistanceIsTheLargestMissAsAShareOfItsLimit) {
  const ClusterSize size = taking_too_much();
  TrainingGoal goal{.tokens = 1.0, .deadline = 10.0 * kDay};
  EXPECT_DOUBLE_EQ(distance(size, goal), 0.2);
  goal.power = Watts(2e6);
  EXPECT_DOUBLE_EQ(distance(size, goal), 0.2);  // 0.1 more of the power
  goal.budget = 100.0;
  EXPECT_DOUBLE_EQ(distance(size, goal), 0.5);
  goal.deadline = 5.0 * kDay;
  EXPECT_DOUBLE_EQ(distance(size, goal), 1.4);
}

/// In time from some size on, and nothing for so little money.
TEST(ClusterPlan, TheNearestIsTheSizeThatMissesByLeast) {
  nlohmann::json scenario = with_failures();
  scenario["cost"] = {{"usd_per_gpu_hour", 2.0}, {"tokens", 1.0}};
  const Study study(scenario);
  TrainingGoal goal = study.goal(1.2);
  goal.budget = 1.0;
  const ClusterPlan plan = study.plan(goal);
  EXPECT_EQ(plan.found(), nullptr);
  ASSERT_TRUE(plan.nearest.has_value());
  const ClusterSize& nearest = *plan.shown();
  EXPECT_EQ(plan.nearest->accelerators, nearest.accelerators);
  EXPECT_DOUBLE_EQ(plan.nearest->budget.value(), nearest.runs.front().outlay_interval->high);
  EXPECT_EQ(plan.nearest->deadline, max(goal.deadline, nearest.runs.front().needed));
  EXPECT_LE(plan.nearest->tokens, goal.tokens);
  EXPECT_FALSE(plan.nearest->power.has_value());
  for (const ClusterSize& size : plan.sizes) {
    if (size.runs.empty()) continue;
    EXPECT_GE(distance(size, goal), distance(nearest, goal));
  }
}
}  // namespace
}  // namespace headway
