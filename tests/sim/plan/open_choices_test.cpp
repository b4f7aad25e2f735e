#include "sim/plan/open_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

const OpenChoice* choice_of(const OpenChoices& open, const std::string& field) {
  const auto found = std::ranges::find(open.choices, field, &OpenChoice::field);
  return found == open.choices.end() ? nullptr : &*found;
}

TEST(OpenChoices, AreFieldsThatTheScenarioDoesNotHaveAndThatMatter) {
  const OpenChoices open = open_choices("llama3_8b_64", {});
  const OpenChoice* recompute = choice_of(open, "recompute");
  ASSERT_NE(recompute, nullptr);
  EXPECT_EQ(*recompute->taken, "none");
  // Everything again is a third more of the compute.
  EXPECT_EQ(*recompute->others.back().value, "full");
  EXPECT_NEAR(recompute->others.back().time / open.time, 4.0 / 3.0, 0.08);
  // The scenario has its degrees, and norms that are not fused take next to nothing more.
  EXPECT_EQ(choice_of(open, "tensor_parallel"), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(recompute->others, {}, &OpenValue::time));
}

TEST(OpenChoices, WhetherSoftwareMergesOperatorsIsNone) {
  EXPECT_EQ(choice_of(open_choices("llama3_8b_64", {}), "fused_operators"), nullptr);
}

TEST(OpenChoices, WhatIsSaidIsNotOpen) {
  ScenarioOptions options;
  options.overrides.push_back(parse_override("/strategy/recompute=none"));
  EXPECT_EQ(choice_of(open_choices("llama3_8b_64", options), "recompute"), nullptr);
}

TEST(OpenChoices, WhatCannotRunIsLeftOut) {
  // Nothing to overlap without tensor parallelism; no fp8 on an A100.
  ScenarioOptions options;
  for (const char* text : {"/strategy/tensor_parallel=1", "/profile=a100_sxm_80gb",
                           "/cluster/topology=dgx_a100_superpod"}) {
    options.overrides.push_back(parse_override(text));
  }
  const OpenChoices open = open_choices("llama3_8b_64", options);
  EXPECT_EQ(choice_of(open, "tensor_parallel_overlap"), nullptr);
  if (const OpenChoice* precision = choice_of(open, "precision")) {
    for (const OpenValue& other : precision->others) EXPECT_NE(*other.value, "fp8");
  }
}

std::optional<std::string> warning_of(const std::string& path) {
  Diagnostics diagnostics;
  return mixture_warning(read_scenario(path, {}, diagnostics), path, {});
}

TEST(OpenChoices, OfAJobByParameterServersAreNotTold) {
  EXPECT_TRUE(open_choices("federated_resnet_50", {}).choices.empty());
}

TEST(OpenChoices, OfAMixtureAreWarnedOfWithTheirRange) {
  const auto warning = warning_of("qwen3_235b_a22b_256");
  ASSERT_TRUE(warning);
  const OpenChoices open = open_choices("qwen3_235b_a22b_256", {});
  ASSERT_NE(choice_of(open, "cuda_graph"), nullptr);
  EXPECT_NE(warning->find("cuda_graph"), std::string::npos) << *warning;
  Seconds least = open.time;
  for (const OpenChoice& choice : open.choices) {
    if (choice.field != "micro_batch" && choice.field != "virtual_stages") {
      least = min(least, choice.others.front().time);
    }
  }
  EXPECT_NE(warning->find(short_text(least)), std::string::npos) << *warning;
}

TEST(OpenChoices, OfADenseModelAreNoWarning) { EXPECT_FALSE(warning_of("llama3_8b_64")); }

TEST(OpenChoices, AreTheReasonOfATimeThatTheyComeNearTo) {
  const auto value = [](const char* word, double seconds) {
    return OpenValue{nlohmann::json(word), Seconds(seconds)};
  };
  // A step took 1.5 times 8 s. Half of that difference is left by sqrt(1.5) x 8 s = 9.80 s, and as
  // much beyond it by 1.5^1.5 x 8 s = 14.70 s.
  const OpenChoices open{
      .time = Seconds(8.0),
      .choices = {{"recompute", nlohmann::json("none"), {value("half", 9.7), value("full", 11.0)}},
                  {"precision", nlohmann::json("bf16"), {value("fp8", 6.0), value("tf32", 14.6)}},
                  {"attention", nlohmann::json("flash"), {value("unfused", 14.8)}}}};
  EXPECT_EQ(choices_sentence(open, 1.5),
            "what the scenario leaves to its software may be the reason: in closed form the job "
            "takes 8 s, with recompute full (11 s), precision tf32 (14.6 s)");
  // 8 s / 1.4 = 5.71 s; sqrt(1 / 1.4) x 8 s = 6.76 s.
  EXPECT_EQ(choices_sentence(open, 1.0 / 1.4),
            "what the scenario leaves to its software may be the reason: in closed form the job "
            "takes 8 s, with precision fp8 (6 s)");
  EXPECT_EQ(choices_sentence(open, 4.0), std::nullopt);
}

}  // namespace
}  // namespace headway
