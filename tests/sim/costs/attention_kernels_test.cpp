// Kernels of fused attention beside the device's fastest.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/read_profile.h"
#include "tests/sim/costs/round_device.h"
#include "tests/sim/costs/small_profile.h"
#include "tests/support/shipped_profile.h"

namespace headway {
namespace {

/// The round device with a kernel of a quarter of the peak, whose start takes 256 positions.
DeviceCosts two_kernels() {
  DeviceCosts device = round_device();
  device.attention_kernels["plain"] = {.efficiency = estimate(0.25),
                                       .backward = estimate(0.5),
                                       .sequence_half = estimate(256.0),
                                       .head_exponent = estimate(0.5)};
  return device;
}

KernelFamily family_with(const char* kernel) {
  KernelFamily family = plain_family();
  family.attention_kernel = kernel;
  return family;
}

/// 2 x 2 x 8 x 1024^2 x 64 operations, half of them causal: 1.0737 GFLOP a pass forward.
const AttentionShape kSmallHeads{.sequences = 1,
                                 .query_length = 1024,
                                 .key_length = 1024,
                                 .query_heads = 8,
                                 .key_heads = 8,
                                 .head_size = 64};

TEST(AttentionKernels, AFamilyRunsItsOwn) {
  // 100 TFLOP/s x 0.25 / (1 + 256/1024) x (64/128)^0.5; backward 2.5 times the operations at half
  // the rate.
  const double forward = 1073741824.0 / (25e12 / 1.25 * std::sqrt(0.5));
  const KernelFamily plain = family_with("plain");
  EXPECT_NEAR(
      fused_attention_cost(two_kernels(), plain, kSmallHeads, Pass::forward).time.count() / forward,
      1.0, 1e-12);
  EXPECT_NEAR(fused_attention_cost(two_kernels(), plain, kSmallHeads, Pass::backward).time.count() /
                  forward,
              2.5 / 0.5, 1e-12);
}

TEST(AttentionKernels, OneThatTheDeviceLacksIsTheFastest) {
  const Cost fastest =
      fused_attention_cost(round_device(), plain_family(), kSmallHeads, Pass::forward);
  // 100 TFLOP/s x 0.5 / (1 + 1024/1024) x 64/128.
  EXPECT_NEAR(fastest.time.count(), 1073741824.0 / 12.5e12, 1e-12);
  for (const char* kernel : {"", "another"}) {
    const Cost cost =
        fused_attention_cost(two_kernels(), family_with(kernel), kSmallHeads, Pass::forward);
    EXPECT_EQ(cost.time, fastest.time) << kernel;
  }
}

TEST(AttentionKernels, WhatWasMeasuredIsTheFastest) {
  DeviceCosts device = two_kernels();
  const Cost formula =
      fused_attention_cost(device, family_with("plain"), kSmallHeads, Pass::forward);
  device.attention_table.push_back({kSmallHeads, Pass::forward, Seconds(1e-3), 0.02});
  EXPECT_EQ(fused_attention_cost(device, plain_family(), kSmallHeads, Pass::forward).time, 1_ms);
  EXPECT_EQ(fused_attention_cost(device, family_with("plain"), kSmallHeads, Pass::forward).time,
            formula.time);
}

TEST(AttentionKernels, StatesAreMultipliedAtTheRateOfTheSlowest) {
  // 1 GFLOP in sums of 128 terms: at 25 instead of 50 TFLOP/s, whatever the family attends with.
  const auto time = [](const DeviceCosts& device) {
    return activation_product_cost(device, plain_family(), Flops(1e9), 128.0, Pass::forward).time;
  };
  EXPECT_NEAR(time(round_device()).count(), 1e9 / 50e12, 1e-15);
  EXPECT_NEAR(time(two_kernels()).count(), 1e9 / 25e12, 1e-15);
  DeviceCosts three = two_kernels();
  three.attention_kernels["a slower one"] = three.attention_kernels["plain"];
  three.attention_kernels["a slower one"].efficiency = estimate(0.125);
  EXPECT_NEAR(time(three).count(), 1e9 / 12.5e12, 1e-15);
}

TEST(AttentionKernels, HopperRunsFlashAttention2AndAFasterOne) {
  const auto profile = shipped("h200_sxm");
  const KernelFamily& compiled = profile->kernel_families.at("torch-compile");
  EXPECT_EQ(compiled.attention_kernel, "flash-2");
  EXPECT_TRUE(profile->kernel_families.at("fused").attention_kernel.empty());
  const DeviceCosts& device = profile->device;
  ASSERT_TRUE(device.attention_kernels.contains("flash-2"));
  AttentionShape longer = kSmallHeads;
  longer.query_length = longer.key_length = 16384;
  longer.head_size = 128;
  const double gain = fused_attention_cost(device, compiled, longer, Pass::forward).time /
                      fused_attention_cost(device, plain_family(), longer, Pass::forward).time;
  EXPECT_GT(gain, 1.4);
  EXPECT_LT(gain, 2.0);
}

/// What reading a profile with another kernel of that name reports.
std::string problems_with_kernel(const std::string& name) {
  const std::string number = R"({"value": 0.2, "spread": 0, "source": "bench"})";
  const std::string kernel = R"("attention_kernels": {")" + name + R"(": {"efficiency": )" +
                             number + R"(, "backward": )" + number + R"(, "sequence_half": )" +
                             number + R"(, "head_exponent": )" + number + "}}, ";
  std::string text = small_profile_text();
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  auto document = JsonDocument::parse(
      "lab.json", text.insert(text.find(R"("attention_sequence_half")"), kernel), diagnostics);
  if (document) static_cast<void>(read_profile(JsonCursor(std::move(document)), files));
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) problems += problem.message;
  return problems;
}

TEST(AttentionKernels, AnotherOneIsNotCalledTheFastest) {
  EXPECT_EQ(problems_with_kernel("flash-2"), "");
  EXPECT_EQ(problems_with_kernel("fastest"), "\"fastest\" is the kernel of attention_efficiency");
}

}  // namespace
}  // namespace headway
