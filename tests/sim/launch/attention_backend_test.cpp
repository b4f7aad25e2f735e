// Whose attention a strategy runs, in Megatron-LM's words.
#include "sim/launch/attention_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::Contains;

Scenario attending(const char* model, const char* profile, const nlohmann::json& strategy) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = model;
  scenario["profile"] = profile;
  scenario["cluster"]["topology"]["node"]["accelerator"] = "any";
  scenario["strategy"] = {{"preset", "megatron"}, {"micro_batch", 1}, {"global_batch", 64}};
  scenario["strategy"].update(strategy);
  return scenario_of(scenario);
}

/// On a node of that accelerator.
FlagList megatron_attention(const char* model, const char* accelerator,
                            const nlohmann::json& strategy = nlohmann::json::object()) {
  JsonValue resolved = attending(model, "h100_sxm", strategy).resolved;
  (*resolved)["cluster"]["topology"]["node"]["accelerator"] = accelerator;
  return flags_of(resolved, LaunchFramework::megatron);
}

// Beside FlashAttention it would switch cuDNN off, whose times are planned with.
TEST(AttentionBackend, IsTheOneThatIsPlannedWith) {
  constexpr const char* kCudnn = "--attention-backend fused";
  constexpr const char* kFlash = "--attention-backend flash";
  for (const char* accelerator : {"h100-sxm", "h20", "gh200", "b200-sxm", "gb300", "rtx-5090"}) {
    EXPECT_THAT(megatron_attention("llama3_8b", accelerator).settings, Contains(kCudnn));
  }
  EXPECT_THAT(megatron_attention("llama3_8b", "a100-sxm-80gb").settings, Contains(kFlash));
  const auto told = [](const nlohmann::json& strategy) {
    return megatron_attention("llama3_8b", "h100-sxm", strategy).settings;
  };
  EXPECT_THAT(told({{"attention_kernel", "flash-2"}}), Contains(kFlash));
  EXPECT_THAT(told({{"kernel_family", "megatron-2022"}}), Contains(kFlash));
  EXPECT_THAT(told({{"kernel_family", "torch-compile"}, {"attention_kernel", "fastest"}}),
              Contains(kCudnn));
  EXPECT_THAT(told({{"attention", "unfused"}}), Contains("--attention-backend unfused"));
}

// "Disabling FlashAttention as it does not support MLA" (get_attention_backend).
TEST(AttentionBackend, OfLatentHeadsIsNeverFlashAttention) {
  EXPECT_THAT(megatron_attention("deepseek_v3", "a100-sxm-80gb").settings,
              Contains("--attention-backend fused"));
  EXPECT_THAT(
      words_of(
          megatron_attention("deepseek_v3", "h100-sxm", {{"attention_kernel", "flash-2"}}).unsaid),
      Contains("attention flash-2 of latent attention"));
}

TEST(AttentionBackend, OfAFamilyIsThatOfThePublishedProfile) {
  const Scenario scenario = attending("llama3_8b", "h100_sxm", nlohmann::json::object());
  JsonValue resolved = scenario.resolved;
  (*resolved)["cluster"]["topology"]["node"]["accelerator"] = "h100-sxm";
  for (const auto& [name, family] : scenario.profiles().of(0).kernel_families) {
    (*resolved)["strategy"]["kernel_family"] = name;
    EXPECT_EQ(attention_kernel_word(resolved),
              family.attention_kernel.empty() ? "flash by cuDNN" : "flash")
        << name;
  }
}

}  // namespace
}  // namespace headway
