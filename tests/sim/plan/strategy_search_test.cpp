#include "sim/plan/strategy_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/jobs/memory.h"
#include "sim/plan/strategy_searcher.h"
#include "sim/plan/time_bound.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/known_jobs.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Four accelerators; `hidden` decides how much does not fit.
nlohmann::json small(int hidden, double spread = 0.0) {
  nlohmann::json scenario = small_scenario(2);
  scenario["model"]["hidden"] = hidden;
  scenario["model"]["ffn_hidden"] = 4 * hidden;
  scenario["perturbations"] = {{"device_spread", spread}, {"operation_spread", spread}};
  return scenario;
}

nlohmann::json with_experts() {
  nlohmann::json scenario = small(1024);
  scenario["model"]["mixture_of_experts"] = {
      {"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 2048}};
  scenario["strategy"]["sequence_parallel"] = true;
  return scenario;
}

/// Which strategy is best depends on what the slow one has to do.
nlohmann::json with_slow_accelerators() {
  nlohmann::json scenario = small(2048);
  scenario["perturbations"]["slow_accelerators"] = {{{"accelerator", 1}, {"time_factor", 1.25}},
                                                    {{"accelerator", 2}, {"time_factor", 1.5}}};
  return scenario;
}

struct Judged {
  StrategyChoice choice;
  Seconds time;
  Bytes memory;
};

Seconds closed_form(const Scenario& scenario, const Strategy& strategy,
                    KnownJobs* known = nullptr) {
  return closed_form_iteration(scenario.model, strategy, *scenario.profile, *scenario.cluster,
                               placement_of(strategy, scenario.placement.order),
                               scenario.perturbation, known);
}

/// Everything that fits, judged one by one without any short cut, fastest first.
std::vector<Judged> brute_force(const StrategySpace& space) {
  const Scenario& scenario = space.scenario();
  std::vector<Judged> all;
  space.for_each([&](const StrategyChoice& choice) {
    const Strategy strategy = space.strategy(choice);
    Bytes fullest;
    for (const StageMemory& stage : stage_memory(scenario.model, strategy)) {
      fullest = max(fullest, stage.total());
    }
    if (fullest.count() > scenario.profile->device.memory_bytes.value) return;
    all.push_back({choice, closed_form(scenario, strategy), fullest});
  });
  std::ranges::stable_sort(all, {}, &Judged::time);
  return all;
}

void expect_nothing_lost(const nlohmann::json& text) {
  const Scenario scenario = scenario_of(text);
  const StrategySpace space(scenario, {});
  const std::vector<Judged> all = brute_force(space);
  ASSERT_GT(all.size(), 20U);
  const StrategySearch search = search_strategies(space, {.best = 10, .slacks = {0.25, 0.5}});
  ASSERT_GE(search.ranked.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(search.ranked[i].time, all[i].time) << i;
  // The fastest that leaves so much is found unless it is too slow to be of interest.
  for (const double slack : {0.25, 0.5}) {
    const double limit = (1.0 - slack) * scenario.profile->device.memory_bytes.value;
    const auto leaves = [&](const auto& judged) { return judged.memory.count() <= limit; };
    const auto wanted = std::ranges::find_if(all, leaves);
    if (wanted == all.end() || wanted->time > 1.5 * all.front().time) continue;
    const auto found = std::ranges::find(search.roomy, wanted->time, &RankedStrategy::time);
    ASSERT_NE(found, search.roomy.end()) << slack;
    EXPECT_TRUE(leaves(*found)) << slack;
  }
  const SearchCounts& counts = search.counts;
  EXPECT_EQ(counts.considered, counts.pruned_by_bound + counts.pruned_by_memory + counts.ranked);
  EXPECT_LT(counts.ranked, std::ssize(all));  // something was saved
}

TEST(StrategySearch, PruningLosesNothingWhereAllFits) { expect_nothing_lost(small(1024)); }

TEST(StrategySearch, PruningLosesNothingWhereMemoryIsShort) { expect_nothing_lost(small(10240)); }

TEST(StrategySearch, PruningLosesNothingWithPerturbations) {
  expect_nothing_lost(small(2048, 0.05));
}

TEST(StrategySearch, PruningLosesNothingWithSlowAccelerators) {
  expect_nothing_lost(with_slow_accelerators());
}

TEST(StrategySearch, PruningLosesNothingWithExperts) { expect_nothing_lost(with_experts()); }

/// Whoever came before leaves what it had in common with the next, and nothing else.
TEST(StrategySearch, WhatIsKnownOfOthersChangesNoTime) {
  for (const nlohmann::json& text : {small(1024), with_experts()}) {
    const Scenario scenario = scenario_of(text);
    const StrategySpace space(scenario, {});
    KnownJobs known;
    int all = 0;
    space.for_each([&](const StrategyChoice& choice) {
      const Strategy strategy = space.strategy(choice);
      EXPECT_EQ(closed_form(scenario, strategy, &known), closed_form(scenario, strategy))
          << space.fields(choice).dump();
      ++all;
    });
    EXPECT_GT(all, 500);
  }
}

void expect_bound_below_the_closed_form(const nlohmann::json& text) {
  const Scenario scenario = scenario_of(text);
  const StrategySpace space(scenario, {});
  TimeBound bound(space);
  int close = 0;
  int all = 0;
  space.for_each([&](const StrategyChoice& choice) {
    const Seconds time = closed_form(scenario, space.strategy(choice));
    const Seconds least = bound.of(choice);
    EXPECT_LE(least, time) << space.fields(choice).dump();
    EXPECT_LE(bound.of_any_pipeline(choice), least) << space.fields(choice).dump();
    ++all;
    if (least > 0.5 * time) ++close;
  });
  EXPECT_GT(close, all / 2);
}

/// The bound is sound for every strategy, and not idle: tight for most of them.
TEST(TimeBound, IsNeverAboveTheClosedFormAndMostlyCloseToIt) {
  expect_bound_below_the_closed_form(small(2048, 0.03));
}

TEST(TimeBound, IsNeverAboveTheClosedFormWithSlowAccelerators) {
  expect_bound_below_the_closed_form(with_slow_accelerators());
}

TEST(TimeBound, IsNeverAboveTheClosedFormWhereSomeLayersAreRecomputed) {
  nlohmann::json text = small(2048);
  text["strategy"]["recompute"] = "full";
  text["strategy"]["recompute_layers"] = 1;
  expect_bound_below_the_closed_form(text);
}

/// Collectives of the backward pass gather once more where they overlap, which takes longer than it
/// hides where there is little to compute. Schedules that cut backward passes in two do without.
TEST(TimeBound, IsNeverAboveTheClosedFormWhereOnlySomeSchedulesOverlap) {
  nlohmann::json text = small(1024);
  text["cluster"]["topology"]["node"]["scale_up"]["bandwidth"] = "20 GB/s";
  text["strategy"]["sequence_parallel"] = true;
  text["strategy"]["overlap_tensor_parallel_backward"] = true;
  expect_bound_below_the_closed_form(text);
}

/// Without a pipeline there is but one stage, which has m (f + b) and the step to do: what bounds
/// any pipeline is the bound then. Of two stages the busier one has at least half of that to do,
/// and where both have as much (here but for embedding and head), whoever begins later by f and
/// ends later by b is through no earlier than after m (f + b) / 2 + (f + b) / 2.
TEST(TimeBound, OfAnyPipelineIsWhatTheAverageStageHasToDo) {
  const Scenario scenario = scenario_of(small(2048));
  const StrategySpace space(scenario, {});
  TimeBound bound(space);
  const std::int64_t batch = scenario.strategy->global_batch;
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    const StrategyChoice alone{.data_parallel = 4, .recompute = recompute};
    EXPECT_NEAR(bound.of_any_pipeline(alone) / bound.of(alone), 1.0, 1e-8);
    const StrategyChoice halves{.pipeline_parallel = 2, .data_parallel = 2, .recompute = recompute};
    const auto micro_batches = static_cast<double>(batch) / 2.0;
    const double bubble = bound.of(halves) / bound.of_any_pipeline(halves);
    EXPECT_GT(bubble, 1.0);
    EXPECT_NEAR(bubble, (micro_batches + 1.0) / micro_batches, 0.2);
  }
}

/// Bounds are worked out as the search gets there; it gets to everybody that it has to.
TEST(StrategySearch, EverybodyWithABoundBelowTheLimitIsLookedAt) {
  for (const nlohmann::json& text : {small(1024), with_experts(), with_slow_accelerators()}) {
    const Scenario scenario = scenario_of(text);
    const StrategySpace space(scenario, {});
    const StrategySearch search = search_strategies(space, {.best = 5});
    ASSERT_EQ(search.counts.pruned_by_memory, 0);
    TimeBound bound(space);
    std::int64_t all = 0;
    std::int64_t below = 0;
    space.for_each([&](const StrategyChoice& choice) {
      ++all;
      if (bound.of(choice) >= search.complete_below) return;
      ++below;
      EXPECT_NE(std::ranges::find(search.ranked, choice, &RankedStrategy::choice),
                search.ranked.end())
          << space.fields(choice).dump();
    });
    EXPECT_EQ(search.counts.considered, all);
    EXPECT_GE(search.counts.ranked, below);
    EXPECT_LT(search.counts.ranked, all);
  }
}

TEST(StrategySearch, FindsAllThatAreAskedFor) {
  const Scenario scenario = scenario_of(small(1024));
  const StrategySpace space(scenario, {});
  const std::vector<Judged> all = brute_force(space);
  const Seconds limit = 1.25 * all.front().time;
  const auto asked =
      std::ranges::count_if(all, [&](const Judged& judged) { return judged.time < limit; });
  ASSERT_GT(asked, 10);
  const StrategySearch search = search_strategies(space, {.best = 3, .all_below = limit});
  EXPECT_EQ(search.complete_below, limit);
  ASSERT_GE(std::ssize(search.ranked), asked);
  for (std::size_t i = 0; i < static_cast<std::size_t>(asked); ++i) {
    EXPECT_EQ(search.ranked[i].time, all[i].time) << i;
  }
}

TEST(StrategySearch, ALaterSearchIsThatOfAFreshSearcher) {
  const Scenario scenario = scenario_of(small(10240));
  const StrategySpace space(scenario, {});
  StrategySearcher searcher(space);
  const Seconds fastest = searcher.search({.best = 3}).ranked.front().time;
  // Wider, then narrower again.
  for (const double reach : {1.5, 1.1}) {
    const SearchOptions options{.best = 5, .slacks = {0.25}, .all_below = reach * fastest};
    const StrategySearch again = searcher.search(options);
    const StrategySearch fresh = search_strategies(space, options);
    ASSERT_EQ(again.ranked.size(), fresh.ranked.size());
    for (std::size_t i = 0; i < fresh.ranked.size(); ++i) {
      EXPECT_EQ(again.ranked[i].choice, fresh.ranked[i].choice) << i;
      EXPECT_EQ(again.ranked[i].time, fresh.ranked[i].time) << i;
      EXPECT_EQ(again.ranked[i].memory, fresh.ranked[i].memory) << i;
    }
    EXPECT_EQ(again.complete_below, fresh.complete_below);
    EXPECT_EQ(again.counts.ranked, fresh.counts.ranked);
    EXPECT_EQ(again.counts.pruned_by_memory, fresh.counts.pruned_by_memory);
    EXPECT_EQ(again.roomy.size(), fresh.roomy.size());
  }
}

TEST(StrategySearch, NothingFitsIsAnAnswerWithTheClosest) {
  const Scenario scenario = scenario_of(small(16384 * 2));
  const StrategySpace space(scenario, {});
  EXPECT_FALSE(has_fitting_strategy(space));
  const StrategySearch search = search_strategies(space, {});
  EXPECT_TRUE(search.ranked.empty());
  ASSERT_TRUE(search.smallest.has_value());
  EXPECT_GT(search.smallest_memory.count(), scenario.profile->device.memory_bytes.value);
  EXPECT_EQ(search.counts.pruned_by_memory, search.counts.considered);
}

}  // namespace
}  // namespace headway
