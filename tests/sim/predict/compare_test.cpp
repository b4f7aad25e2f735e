#include "sim/predict/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::string> pointers(const std::vector<InputChange>& changes) {
  std::vector<std::string> list;
  for (const InputChange& change : changes) list.push_back(change.pointer);
  return list;
}

TEST(ChangedInputs, AreLeavesThatMatter) {
  const json a = {{"name", "a"},
                  {"strategy", {{"tensor_parallel", 2}, {"micro_batch", 1}, {"preset", "x"}}},
                  {"perturbations", {{"slow", {1, 2}}}}};
  const json b = {{"name", "b"},
                  {"strategy", {{"tensor_parallel", 4}, {"micro_batch", 1}, {"preset", "y"}}},
                  {"perturbations", {{"slow", {1, 3}}}},
                  {"anchor", {{"measured_iteration_time", "5 s"}}}};
  EXPECT_THAT(pointers(changed_inputs(a, b)),
              ElementsAre("/anchor", "/perturbations/slow", "/strategy/tensor_parallel"));
}

TEST(ChangedInputs, AnotherModelIsOneChange) {
  const json a = {{"model", {{"name", "a"}, {"layers", 2}}}};
  json b = {{"model", {{"name", "a"}, {"layers", 4}}}};
  EXPECT_THAT(pointers(changed_inputs(a, b)), ElementsAre("/model/layers"));
  b["model"]["name"] = "b";
  EXPECT_THAT(pointers(changed_inputs(a, b)), ElementsAre("/model"));
}

ComparedInput shipped(std::vector<Override> overrides) {
  overrides.push_back({"/run/replicas", "1"});
  Diagnostics diagnostics;
  return read_compared("llama3_8b_64", {.overrides = std::move(overrides)}, diagnostics);
}

Comparison compared(std::vector<Override> overrides) {
  return compare(shipped({}), shipped(std::move(overrides)), 1, [](std::size_t, std::size_t) {});
}

Seconds sum_of(const Comparison& comparison) {
  Seconds sum;
  for (const ChangeEffect& effect : comparison.effects) sum += effect.after - effect.before;
  return sum;
}

TEST(Compare, AJobIsTheSameAsItself) {
  const Comparison comparison = compared({});
  EXPECT_TRUE(comparison.effects.empty());
  EXPECT_EQ(comparison.a.iteration_time, comparison.b.iteration_time);
}

TEST(Compare, ASingleChangeMakesAllOfTheDifference) {
  const Comparison comparison = compared({{"/strategy/recompute", "\"full\""}});
  ASSERT_EQ(comparison.effects.size(), 1U);
  const ChangeEffect& effect = comparison.effects[0];
  const Seconds difference = comparison.b.iteration_time - comparison.a.iteration_time;
  EXPECT_GT(difference, Seconds(0.0));
  EXPECT_EQ(effect.after - effect.before, difference);
  EXPECT_EQ(*effect.alone, difference);
}

TEST(Compare, StepsAddUpToTheDifference) {
  const Comparison comparison =
      compared({{"/strategy/recompute", "\"full\""},
                {"/strategy/overlap_gradient_reduce", "false"},
                {"/cluster/topology/node/nics/bandwidth", "\"100 Gb/s\""}});
  // That the cables of leaves and spines are as fast as the NICs is no change of its own.
  EXPECT_EQ(comparison.effects.size(), 3U);
  EXPECT_NEAR(sum_of(comparison).count(),
              (comparison.b.iteration_time - comparison.a.iteration_time).count(), 1e-12);
  for (const ChangeEffect& effect : comparison.effects) {
    EXPECT_TRUE(effect.alone);
    EXPECT_TRUE(effect.last);
  }
}

/// Virtual stages need a pipeline; the overlap needs neither.
TEST(Compare, ChangesThatNeedEachOtherAreOneEffect) {
  const Comparison comparison = compared({{"/strategy/pipeline_parallel", "2"},
                                          {"/strategy/virtual_stages", "4"},
                                          {"/strategy/overlap_gradient_reduce", "false"}});
  ASSERT_EQ(comparison.effects.size(), 2U);
  std::vector<std::size_t> sizes = {comparison.effects[0].changes.size(),
                                    comparison.effects[1].changes.size()};
  EXPECT_THAT(sizes, testing::UnorderedElementsAre(1U, 2U));
  EXPECT_NEAR(sum_of(comparison).count(),
              (comparison.b.iteration_time - comparison.a.iteration_time).count(), 1e-12);
}

/// The data parallelism that 64 GPUs leave, and the overlap that virtual stages bring, are nobody's
/// changes.
TEST(Compare, DefaultsThatFollowAreNoChanges) {
  const Comparison comparison =
      compared({{"/strategy/pipeline_parallel", "2"}, {"/strategy/virtual_stages", "4"}});
  std::vector<std::string> changed;
  for (const ChangeEffect& effect : comparison.effects) {
    for (const InputChange& change : effect.changes) changed.push_back(change.pointer);
  }
  EXPECT_THAT(changed, testing::UnorderedElementsAre("/strategy/pipeline_parallel",
                                                     "/strategy/virtual_stages"));
  EXPECT_NEAR(sum_of(comparison).count(),
              (comparison.b.iteration_time - comparison.a.iteration_time).count(), 1e-12);
}

}  // namespace
}  // namespace headway
