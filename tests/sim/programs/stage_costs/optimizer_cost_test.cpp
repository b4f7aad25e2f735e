#include "sim/programs/stage_costs/optimizer_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

constexpr double kMemory = 0.5e12;  // half of the bandwidth

const Optimizer& optimizer(std::string_view name) {
  return *std::ranges::find(optimizers(), name, &Optimizer::name);
}
const Optimizer& kAdam = optimizer("adam");

/// A link of 10 GB/s to a host whose Adam moves 20 GB/s in its memory.
Profile profile_with_host() {
  Profile profile = round_profile();
  profile.device.host_bandwidth = estimate(10e9);
  profile.device.host_memory_bandwidth = estimate(20e9);
  return profile;
}

TEST(OptimizerTime, IsMemoryTraffic) {
  // 34 bytes a parameter it updates, 4 a parameter whose gradient enters the norm.
  EXPECT_DOUBLE_EQ(optimizer_time(round_profile(), {}, kAdam, 1e9, 1e8).count(),
                   (3.4e9 + 4e9) / kMemory);
}

TEST(OptimizerTime, WithoutANormIsTheUpdatesAlone) {
  const Strategy strategy{.gradient_norm = false};
  EXPECT_DOUBLE_EQ(optimizer_time(round_profile(), strategy, kAdam, 1e9, 1e8).count(),
                   3.4e9 / kMemory);
}

// Of 12 bytes of states 24 move, with 4 of the parameter and 2 of its gradient; of 4 bytes 8 do.
TEST(OptimizerTime, GoesByTheStatesThatTheSoftwareKeeps) {
  Strategy strategy{.gradient_norm = false, .gradient_precision = Precision::bf16};
  strategy.memory.optimizer_state_bytes = 4.0;
  EXPECT_DOUBLE_EQ(optimizer_time(round_profile(), strategy, kAdam, 1e9, 1e8).count(),
                   14.0 / 30.0 * 3.4e9 / kMemory);
}

// With gradients in 16 bits 24 bytes of Adagrad for each of 1e8, a tenth more as the kernels of
// Adam move, 33 bytes where it needs 30, and no norm. What was measured of Adam says nothing of it.
TEST(OptimizerTime, OfOthersIsWhatTheyMoveAsWastefullyAsAdam) {
  Profile profile = round_profile();
  profile.device.optimizer_bytes = estimate(33.0);
  profile.device.optimizer_curve.points = {{1_MB, 100_us}, {2_MB, 150_us}};
  const Strategy strategy{.gradient_precision = Precision::bf16};
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, optimizer("adagrad"), 1e9, 1e8, 2.5e5).count(),
                   1.1 * 2.4e9 / kMemory);
  // Lion clips: 4 bytes of each gradient for the norm; 2 + 8 + 8 + 2 of an update.
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, optimizer("lion"), 1e9, 1e8).count(),
                   (4e9 + 1.1 * 2.0e9) / kMemory);
  // What Adam moves less than it has to was not measured right.
  profile.device.optimizer_bytes = estimate(28.0);
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, optimizer("adagrad"), 1e9, 1e8).count(),
                   2.4e9 / kMemory);
}

// 1024 x 4096: 2 x 1024^2 x 4096 operations for X X', as many for its sum with its square times X,
// and 2 x 1024^3 for the square; five times, at 50 TFLOP/s. Which side is longer does not matter.
TEST(OrthogonalTime, IsFiveTimesThreeProducts) {
  const DeviceCosts device = even_profile().device;
  constexpr double kEach =
      5.0 * (4.0 * 1024.0 * 1024.0 * 4096.0 + 2.0 * 1024.0 * 1024.0 * 1024.0) / 50e12;
  Layer layer;
  layer.products = {{.name = "up", .outputs = 4096.0, .inputs = 1024.0, .split = Split::outputs},
                    {.name = "down", .outputs = 1024.0, .inputs = 4096.0, .split = Split::inputs}};
  const OrthogonalTime whole = orthogonal_time(layer, {}, device, Precision::bf16);
  EXPECT_NEAR(whole.shared.count(), 2.0 * kEach, 1e-9 * kEach);
  EXPECT_EQ(whole.experts, 0_s);
  // Four tensor-parallel ranks have 1024 x 1024 each.
  constexpr double kPart = 5.0 * 6.0 * 1024.0 * 1024.0 * 1024.0 / 50e12;
  const RankShape part{.tensor_parallel = 4};
  EXPECT_NEAR(orthogonal_time(layer, part, device, Precision::bf16).shared.count(), 2.0 * kPart,
              1e-9 * kPart);
}

// 64 experts on 8 ranks: eight matrices each.
TEST(OrthogonalTime, OfExpertsIsThatOfEachOfThem) {
  const DeviceCosts device = even_profile().device;
  constexpr double kEach = 5.0 * 6.0 * 2048.0 * 2048.0 * 2048.0 / 50e12;
  Layer layer;
  layer.products = {
      {.name = "up", .part = Part::experts, .outputs = 2048.0, .inputs = 2048.0, .copies = 64.0}};
  const OrthogonalTime time =
      orthogonal_time(layer, {.expert_parallel = 8}, device, Precision::bf16);
  EXPECT_NEAR(time.experts.count(), 8.0 * kEach, 1e-9 * kEach);
  EXPECT_EQ(time.shared, 0_s);
}

TEST(OptimizerTime, TakesWhatWasMeasuredOfATensorOfThatSize) {
  // 2.5e5 parameters, 1e6 bytes of weights, were updated in 100 us: 400 such tensors.
  Profile profile = round_profile();
  profile.device.optimizer_curve.points = {{1_MB, 100_us}, {2_MB, 150_us}};
  const Strategy strategy{.gradient_norm = false};
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, kAdam, 1e8, 1e8, 2.5e5).count(), 400 * 100e-6);
  // Of no other size does it say anything.
  EXPECT_DOUBLE_EQ(optimizer_time(profile, strategy, kAdam, 1e8, 1e8, 1e6).count(),
                   3.4e9 / kMemory);
}

TEST(OptimizerTime, OnTheHostIsGradientsDownUpdateAndParametersUp) {
  // 1e8 parameters: 0.4 GB of fp32 gradients, 28 + 2 bytes each in memory, 0.2 GB of bf16.
  const Strategy strategy{.optimizer_offload = 1.0};
  EXPECT_DOUBLE_EQ(optimizer_time(profile_with_host(), strategy, kAdam, 1e9, 1e8).count(),
                   4e9 / kMemory + 0.04 + 0.15 + 0.02);
}

TEST(OptimizerTime, OnTheHostLastsAsItsSlowestPartWhereTheyOverlap) {
  const Strategy strategy{.optimizer_offload = 1.0, .overlap_optimizer_offload = true};
  EXPECT_DOUBLE_EQ(optimizer_time(profile_with_host(), strategy, kAdam, 1e9, 1e8).count(),
                   4e9 / kMemory + 0.15);
  // Of fp32 parameters 0.4 GB come back, where half as much went down and memory is five times as
  // fast.
  Profile fast = profile_with_host();
  fast.device.host_memory_bandwidth = estimate(100e9);
  const Strategy wide{.optimizer_offload = 1.0,
                      .overlap_optimizer_offload = true,
                      .precision = Precision::fp32,
                      .gradient_precision = Precision::bf16};
  EXPECT_DOUBLE_EQ(optimizer_time(fast, wide, kAdam, 1e9, 1e8).count(), 4e9 / kMemory + 0.04);
}

TEST(OptimizerTime, IsSharedWithTheHost) {
  // A quarter on the host, three quarters of 3.4 GB of traffic on the accelerator.
  const Strategy strategy{.optimizer_offload = 0.25};
  EXPECT_NEAR(optimizer_time(profile_with_host(), strategy, kAdam, 0.0, 1e8).count(),
              0.75 * 3.4e9 / kMemory + 0.25 * (0.04 + 0.15 + 0.02), 1e-12);
}

TEST(OptimizerTime, OnAnUnknownHostIsABug) {
  const Strategy strategy{.optimizer_offload = 1.0};
  EXPECT_THROW(static_cast<void>(optimizer_time(round_profile(), strategy, kAdam, 1.0, 1.0)),
               InternalError);
}

}  // namespace
}  // namespace headway
