#include "sim/predict/predicted_memory.h"

#include <gtest/gtest.h>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Two stages of two tensor-parallel ranks, each pair on a node of its own.
nlohmann::json offloading(const char* host_memory) {
  nlohmann::json scenario = small_scenario(2);
  scenario["strategy"]["optimizer_offload"] = 1.0;
  if (host_memory != nullptr) {
    scenario["cluster"]["topology"]["node"]["host_memory"] = host_memory;
  }
  return scenario;
}

MemoryPrediction memory_of(const nlohmann::json& text) {
  const Scenario scenario = scenario_of(text);
  return predicted_memory(scenario, *scenario.strategy);
}

// 16 bytes a parameter: gradients in fp32 and 12 of the optimizer. The second stage has 4 layers of
// 12 h^2 + 13 h with h = 1024, the head of 32,000 x h and the last norm of 2 h; the first an
// embedding of as many, and positions of 1024 x h, whole on both ranks as norms are.
TEST(PredictedMemory, WhatTheRanksOfANodeOffloadIsTogetherInItsMemory) {
  constexpr double kH = 1024.0;
  constexpr double kFirst = 4.0 * (12.0 * kH * kH + 13.0 * kH) + 32000.0 * kH + 2.0 * kH * kH;
  const MemoryPrediction memory = memory_of(offloading("4 GB"));
  ASSERT_TRUE(memory.host.has_value());
  EXPECT_NEAR(memory.host->needed / Bytes(16.0 * kFirst), 1.0, 0.001);
  EXPECT_EQ(memory.host->capacity, 4_GB);
  EXPECT_TRUE(memory.fits);
}

TEST(PredictedMemory, AJobThatOffloadsMoreThanANodeHasDoesNotFit) {
  const MemoryPrediction memory = memory_of(offloading("1 GB"));
  EXPECT_TRUE(memory.is_short_of_host());
  EXPECT_FALSE(memory.fits);
}

TEST(PredictedMemory, OfANodeThatSaysNothingNothingIsChecked) {
  const MemoryPrediction memory = memory_of(offloading(nullptr));
  ASSERT_TRUE(memory.host.has_value());
  EXPECT_FALSE(memory.host->is_known());
  EXPECT_TRUE(memory.fits);
  EXPECT_FALSE(memory_of(small_scenario(2)).host.has_value());
}

// Of several kinds of nodes the one with the least room counts, not the one that holds most.
TEST(PredictedMemory, TheNodeWithTheLeastRoomIsTold) {
  nlohmann::json scenario = headway::mixed_scenario("h100-sxm", "h100_sxm");
  scenario["profile"] = "h100_sxm";
  scenario["strategy"]["optimizer_offload"] = 1.0;
  nlohmann::json& topology = scenario["cluster"]["topology"];
  topology["node"]["host_memory"] = "1 TB";
  topology["other_nodes"][0]["node"]["host_memory"] = "2 GB";
  EXPECT_EQ(memory_of(scenario).host->capacity, 2_GB);
}

// DeepSpeed's ZeRO-Offload moves gradients of stages 2 and 3 during the backward pass.
TEST(PredictedMemory, DeepSpeedLeavesNoOffloadedGradientsOnAccelerators) {
  const auto gradients_with = [](const char* preset) {
    nlohmann::json scenario = small_scenario(2);
    scenario["strategy"] = {{"preset", preset}, {"optimizer_offload", 1.0}, {"global_batch", 8}};
    return memory_of(scenario).stages.front().gradients;
  };
  EXPECT_GT(gradients_with("deepspeed-zero-1"), 0_B);
  EXPECT_EQ(gradients_with("deepspeed-zero-2"), 0_B);
  EXPECT_EQ(gradients_with("deepspeed-zero-3"), 0_B);
  EXPECT_GT(gradients_with("megatron"), 0_B);
}

}  // namespace
}  // namespace headway
