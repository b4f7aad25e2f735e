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

}  // namespace
}  // namespace headway
