#include "sim/plan/largest_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

struct LargestStudy {
  explicit LargestStudy(const nlohmann::json& scenario) {
    options.leaders.path = scratch.write("scenario.json", scenario.dump());
    options.leaders.best = 1;
  }
  [[nodiscard]] LargestPlan plan(LargestGoal::Of of) const {
    Diagnostics diagnostics;
    return plan_largest(options, {of}, diagnostics);
  }
  [[nodiscard]] Scenario read(const ScenarioOptions& with) const {
    Diagnostics diagnostics;
    return read_scenario(options.leaders.path, with, diagnostics);
  }

  ScratchFolder scratch;
  PlanOptions options;
};

/// What was found fits as `simulate` has it, and more by a step, or a sixteenth, was tried and does
/// not.
void expect_largest(const LargestStudy& study, const LargestPlan& plan, std::int64_t step) {
  ASSERT_TRUE(plan.plan.has_value());
  const Scenario found = study.read(plan.plan->leaders.front().options);
  EXPECT_TRUE(simulate(found, {.scaling = false}).prediction.memory.fits);
  const std::int64_t most = plan.largest.value + std::max(step, plan.largest.value / 16);
  EXPECT_TRUE(std::ranges::any_of(plan.tried, [&](const TriedSize& size) {
    return size.value > plan.largest.value && size.value <= most &&
           size.reason == "does not fit in memory";
  }));
}

std::int64_t model_field(const Scenario& scenario, const char* name) {
  return scenario.resolved->at("model").at(name).get<std::int64_t>();
}

TEST(LargestPlan, ALongerContextDoesNotFit) {
  nlohmann::json scenario = small_scenario(2);
  scenario["model"]["hidden"] = 8192;
  scenario["model"]["ffn_hidden"] = 32768;
  const LargestStudy study(scenario);
  const LargestPlan plan = study.plan(LargestGoal::Of::context);
  expect_largest(study, plan, 256);  // a quarter of 1024
  const Scenario found = study.read(plan.plan->leaders.front().options);
  EXPECT_EQ(found.strategy->sequence_length, plan.largest.value);
  EXPECT_GT(plan.largest.value, 1024);
}

TEST(LargestPlan, AWiderModelHasMoreHeadsOfTheSameSize) {
  const LargestStudy study(small_scenario(2));
  const LargestPlan plan = study.plan(LargestGoal::Of::width);
  ASSERT_TRUE(plan.plan.has_value());
  const Scenario found = study.read(plan.plan->leaders.front().options);
  EXPECT_EQ(model_field(found, "hidden"), plan.largest.value);
  EXPECT_EQ(model_field(found, "hidden") / model_field(found, "attention_heads"), 64);
  EXPECT_EQ(model_field(found, "ffn_hidden"), 4 * model_field(found, "hidden"));
  EXPECT_GT(model_field(found, "hidden"), 1024);
}

TEST(LargestPlan, MoreLayersOfTheSameSize) {
  nlohmann::json scenario = small_scenario(2);
  scenario["model"]["hidden"] = 8192;
  scenario["model"]["ffn_hidden"] = 32768;
  const LargestStudy study(scenario);
  const std::int64_t layers = scenario["model"]["layers"];
  const LargestPlan plan = study.plan(LargestGoal::Of::layers);
  expect_largest(study, plan, std::max<std::int64_t>(1, layers / 4));
  const Scenario found = study.read(plan.plan->leaders.front().options);
  EXPECT_EQ(model_field(found, "layers"), plan.largest.value);
  EXPECT_EQ(model_field(found, "hidden"), 8192);
}

/// Its fields are not called as ours are, so the answer writes the model out.
TEST(LargestPlan, AHuggingFaceModelGrowsToo) {
  nlohmann::json scenario = small_scenario(2);
  const LargestStudy unused(scenario);
  const std::string config = unused.scratch.write(
      "config.json", R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096,
                         "num_hidden_layers": 4, "num_attention_heads": 16, "vocab_size": 32000,
                         "num_key_value_heads": 8, "max_position_embeddings": 1024})");
  scenario["model"] = {{"huggingface", config}};
  const LargestStudy study(scenario);
  const LargestPlan plan = study.plan(LargestGoal::Of::width);
  ASSERT_TRUE(plan.plan.has_value());
  const Scenario found = study.read(plan.plan->leaders.front().options);
  EXPECT_EQ(model_field(found, "hidden"), plan.largest.value);
  EXPECT_EQ(model_field(found, "head_size"), 64);
  EXPECT_GT(model_field(found, "hidden"), 1024);
}

/// Even where the scenario's own size does not fit.
TEST(LargestPlan, LooksForSmallerOnesToo) {
  nlohmann::json scenario = small_scenario(2);
  scenario["model"]["layers"] = 32;
  scenario["model"]["hidden"] = 16384;
  scenario["model"]["ffn_hidden"] = 65536;
  const LargestStudy study(scenario);
  const LargestPlan plan = study.plan(LargestGoal::Of::width);
  expect_largest(study, plan, 4096);  // a quarter of 16384
  EXPECT_LT(plan.largest.value, 16384);
}

TEST(LargestPlan, TheLibraryIsTriedFromTheLargestDown) {
  const LargestStudy study(small_scenario(2));
  const LargestPlan plan = study.plan(LargestGoal::Of::model);
  ASSERT_TRUE(plan.plan.has_value());
  EXPECT_TRUE(std::ranges::is_sorted(plan.tried, std::ranges::greater(), &TriedSize::parameters));
  EXPECT_EQ(plan.tried.back().name, plan.largest.name);
  EXPECT_GT(plan.tried.size(), 5U);
  for (const TriedSize& size : plan.tried) {
    EXPECT_EQ(size.reason.empty(), size.name == plan.largest.name) << size.name;
  }
  EXPECT_EQ(study.read(plan.plan->leaders.front().options).strategy->sequence_length, 1024);
}

}  // namespace
}  // namespace headway
