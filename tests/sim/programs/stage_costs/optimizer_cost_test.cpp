#include "sim/programs/stage_costs/optimizer_cost.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

constexpr double kMemory = 0.5e12;  // half of the bandwidth

/// A link of 10 GB/s to a host whose Adam moves 20 GB/s in its memory.
Profile profile_with_host() {
  Profile profile = round_profile();
  profile.device.host_bandwidth = estimate(10e9);
  profile.device.host_memory_bandwidth = estimate(20e9);
  return profile;
}

TEST(OptimizerTime, IsMemoryTraffic) {
  // 34 bytes a parameter it updates, 4 a parameter whose gradient enters the norm.
  EXPECT_DOUBLE_EQ(optimizer_time(round_profile(), {}, 1e9, 1e8).count(), (3.4e9 + 4e9) / kMemory);
}

TEST(OptimizerTime, WithoutANormIsTheUpdatesAlone) {
  const Strategy strategy{.gradient_norm = false};
  EXPECT_DOUBLE_EQ(optimizer_time(round_profile(), strategy, 1e9, 1e8).count(), 3.4e9 / kMemory);
}

// 24 bytes of Adagrad for each of 1e8, and no norm.
TEST(OptimizerTime, IsThatOfTheSoftwaresOwnOptimizer) {
  Profile profile = round_profile();
  profile.kernel_families.at("fused").optimizer_bytes = estimate(24.0);
  profile.device.optimizer_curve.points = {{1_MB, 100_us}, {2_MB, 150_us}};
  EXPECT_DOUBLE_EQ(optimizer_time(profile, {}, 1e9, 1e8, 2.5e5).count(), 2.4e9 / kMemory);
}

TEST(OptimizerTime, TakesWhatWasMeasuredOfATensorOfThatSize) {
  // 2.5e5 parameters, 1e6 bytes of weights, were updated in 100 us: 400 such tensors.
  Profile profile = round_profile();
  profile.device.optimizer_curve.points = {{1_MB, 100_us}, {2_MB, 150_us}};
  const Strategy strategy{.gradient_norm = false};
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, 1e8, 1e8, 2.5e5).count(), 400 * 100e-6);
  // Of no other size does it say anything.
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, 1e8, 1e8, 1e6).count(), 3.4e9 / kMemory);
}

TEST(OptimizerTime, OnTheHostIsGradientsDownUpdateAndParametersUp) {
  // 1e8 parameters: 0.4 GB of fp32 gradients, 28 + 2 bytes each in memory, 0.2 GB of bf16.
  const Strategy strategy{.optimizer_offload = 1.0};
  EXPECT_DOUBLE_EQ(optimizer_time(profile_with_host(), strategy, 1e9, 1e8).count(),
                   4e9 / kMemory + 0.04 + 0.15 + 0.02);
}

TEST(OptimizerTime, OnTheHostLastsAsItsSlowestPartWhereTheyOverlap) {
  const Strategy strategy{.optimizer_offload = 1.0, .overlap_optimizer_offload = true};
  EXPECT_DOUBLE_EQ(optimizer_time(profile_with_host(), strategy, 1e9, 1e8).count(),
                   4e9 / kMemory + 0.15);
}

TEST(OptimizerTime, IsSharedWithTheHost) {
  // A quarter on the host, three quarters of 3.4 GB of traffic on the accelerator.
  const Strategy strategy{.optimizer_offload = 0.25};
  EXPECT_NEAR(optimizer_time(profile_with_host(), strategy, 0.0, 1e8).count(),
              0.75 * 3.4e9 / kMemory + 0.25 * (0.04 + 0.15 + 0.02), 1e-12);
}

TEST(OptimizerTime, OnAnUnknownHostIsABug) {
  const Strategy strategy{.optimizer_offload = 1.0};
  EXPECT_THROW(static_cast<void>(optimizer_time(round_profile(), strategy, 1.0, 1.0)),
               InternalError);
}

}  // namespace
}  // namespace headway
