#include "sim/costs/kernel_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/diagnostic.h"
#include "tests/sim/costs/round_device.h"

namespace headway {
namespace {

double kernel_us(const Cost& cost) { return cost.time.count() * 1e6; }

// 4 x 1024 x 1024 x 8 x 128 / 2 = 2.147483648 GFLOP. s0 = s halves the rate of 50 TFLOP/s:
// 85.89934592 kernel_us.
constexpr AttentionShape kShape{.sequences = 1,
                                .query_length = 1024,
                                .key_length = 1024,
                                .query_heads = 8,
                                .key_heads = 8,
                                .head_size = 128};
constexpr double kForwardUs = 85.89934592;

double fused_us(const AttentionShape& shape, Pass pass, const KernelFamily& family) {
  return kernel_us(fused_attention_cost(round_device(), family, shape, pass));
}

double unfused_us(const AttentionShape& shape, Pass pass,
                  const DeviceCosts& device = round_device()) {
  return kernel_us(
      unfused_attention_cost(device, plain_family(), {.shape = shape}, pass, Precision::bf16));
}

Cost wide_cost(const AttentionWork& attention, Pass pass) {
  return unfused_attention_cost(round_device(), plain_family(), attention, pass, Precision::fp32);
}

/// Products that multiply for so many microseconds while they move bytes for as many others.
double at_once(double multiplying, double moving) {
  return std::cbrt(std::pow(multiplying, 3) + std::pow(moving, 3));
}

TEST(FusedAttention, ForwardIsItsOperationsAtTheRateOfItsLength) {
  EXPECT_NEAR(fused_us(kShape, Pass::forward, plain_family()), kForwardUs, 1e-9);
}

TEST(FusedAttention, BackwardIsTwoAndAHalfTimesTheOperationsAtALowerRate) {
  EXPECT_NEAR(fused_us(kShape, Pass::backward, plain_family()), kForwardUs * 2.5 / 0.8, 1e-9);
}

TEST(FusedAttention, SmallHeadsAreSlowerLargeOnesAreNot) {
  AttentionShape small = kShape;
  small.head_size = 64;  // half the operations at (64/128)^1 of the rate
  EXPECT_NEAR(fused_us(small, Pass::forward, plain_family()), kForwardUs, 1e-9);
  AttentionShape large = kShape;
  large.head_size = 256;
  EXPECT_NEAR(fused_us(large, Pass::forward, plain_family()), 2 * kForwardUs, 1e-9);
}

TEST(FusedAttention, AFamilyHasItsOwnRate) {
  KernelFamily slow = plain_family();
  slow.attention_rate.value = 0.5;
  EXPECT_NEAR(fused_us(kShape, Pass::forward, slow), 2 * kForwardUs, 1e-9);
}

TEST(FusedAttention, AContextSpreadOverRanksHasItsFactor) {
  AttentionShape half = kShape;
  half.query_length = 512;  // the other half is on another rank
  EXPECT_NEAR(fused_us(half, Pass::forward, plain_family()), kForwardUs / 2 * 1.1, 1e-9);
}

TEST(FusedAttention, OneQueryIsBoundByTheKeysAndValues) {
  AttentionShape decode = kShape;
  decode.query_length = 1;
  decode.causal = false;
  // Keys and values: 2 x 1024 x 8 x 128 x 2 B, query and result 2 x 8 x 128 x 2 B, at 1 TB/s.
  EXPECT_NEAR(fused_us(decode, Pass::forward, plain_family()), 4.194304 + 0.004096, 1e-9);
}

TEST(FusedAttention, SpreadIsTheRootOfTheSquares) {
  const KernelFamily family = plain_family();
  EXPECT_NEAR(fused_attention_cost(round_device(), family, kShape, Pass::forward).spread, 0.03,
              1e-12);
  EXPECT_NEAR(fused_attention_cost(round_device(), family, kShape, Pass::backward).spread, 0.05,
              1e-12);
}

TEST(FusedAttention, ADeviceWithoutSixteenBitsWorksInWhatItHas) {
  DeviceCosts device = round_device();
  device.peak_flops.erase(Precision::bf16);
  device.gemm_efficiency.erase(Precision::bf16);
  // fp32 peaks at a tenth of bf16.
  EXPECT_NEAR(kernel_us(fused_attention_cost(device, plain_family(), kShape, Pass::forward)),
              10 * kForwardUs, 1e-9);
}

TEST(ActivationProduct, RunsAtTheRateOfAttentionOnSequencesWithoutEnd) {
  // Half of 100 TFLOP/s, halved by sums of 64 terms; backward at 0.8 of it.
  const auto cost = [](double inputs, Pass pass) {
    return activation_product_cost(round_device(), plain_family(), Flops(1e12), inputs, pass);
  };
  EXPECT_DOUBLE_EQ(cost(128.0, Pass::forward).time.count(), 0.02);
  EXPECT_DOUBLE_EQ(cost(256.0, Pass::forward).time.count(), 0.02);
  EXPECT_DOUBLE_EQ(cost(64.0, Pass::forward).time.count(), 0.04);
  EXPECT_DOUBLE_EQ(cost(128.0, Pass::backward).time.count(), 0.025);
  EXPECT_GT(cost(128.0, Pass::forward).spread, 0.5);  // nobody measured it
}

const double kProductsUs = at_once(171.79869184, 83.88608);
const double kWideProductsUs = at_once(1717.9869184, 2 * 83.88608);

TEST(UnfusedAttention, IsTheWholeSquareAndThePassesOverIt) {
  // 4 x 1024^2 x 8 x 128 FLOP at 0.5 x 50 TFLOP/s = 171.79869184 us, while 2 x 8 x 1024^2 scores
  // and 4 x 8 x 1024 x 128 operands of 2 B pass at 0.5 TB/s = 83.88608 us; 8 x 1024^2 scores of 10
  // B at 0.5 TB/s = 167.77216 us.
  EXPECT_NEAR(unfused_us(kShape, Pass::forward), kProductsUs + 167.77216, 1e-9);
  // Twice the products, 15 B a score.
  EXPECT_NEAR(unfused_us(kShape, Pass::backward), 2 * kProductsUs + 1.5 * 167.77216, 1e-9);
}

TEST(UnfusedAttention, SoftwareMayHaveAKernelForEachStep) {
  // Where 10 B a score take 167.77216 us: 25 B, and backward 30.
  KernelFamily eager = plain_family();
  eager.unfused_forward_bytes = estimate(25.0);
  eager.unfused_backward_bytes = estimate(30.0);
  const auto us = [&](Pass pass) {
    return kernel_us(
        unfused_attention_cost(round_device(), eager, {.shape = kShape}, pass, Precision::bf16));
  };
  EXPECT_NEAR(us(Pass::forward), kProductsUs + 2.5 * 167.77216, 1e-9);
  EXPECT_NEAR(us(Pass::backward), 2 * kProductsUs + 3.0 * 167.77216, 1e-9);
}

TEST(UnfusedAttention, OfFourByteNumbersIsAKernelForEachStep) {
  // At 0.5 x 5 TFLOP/s ten times as long. Where 10 B a score take 167.77216 us: mask and softmax
  // read and write, 4 x 4 B; backward the softmax moves three numbers, and the mask five times two,
  // 13 x 4 B.
  EXPECT_NEAR(kernel_us(wide_cost({.shape = kShape}, Pass::forward)),
              kWideProductsUs + 1.6 * 167.77216, 1e-9);
  EXPECT_NEAR(kernel_us(wide_cost({.shape = kShape}, Pass::backward)),
              2 * kWideProductsUs + 5.2 * 167.77216, 1e-9);
}

TEST(UnfusedAttention, OfFourByteNumbersDropoutMovesTwoAndItsMask) {
  const AttentionWork dropping{.shape = kShape, .dropout = true};
  EXPECT_NEAR(kernel_us(wide_cost(dropping, Pass::forward)), kWideProductsUs + 2.5 * 167.77216,
              1e-9);
  EXPECT_NEAR(kernel_us(wide_cost(dropping, Pass::backward)), 2 * kWideProductsUs + 6.1 * 167.77216,
              1e-9);
  // The profile's bytes of a score have it.
  EXPECT_EQ(kernel_us(unfused_attention_cost(round_device(), plain_family(), dropping,
                                             Pass::forward, Precision::bf16)),
            unfused_us(kShape, Pass::forward));
}

TEST(UnfusedAttention, AHeadSizeThatIsNoMultipleOfEightSlowsTheProducts) {
  AttentionShape odd = kShape;
  odd.head_size = 100;
  // Two operands of 1,024 x 100 numbers beside each product's 1,024 x 1,024 scores.
  const double moving = 67.108864 * (1.0 + 2.0 * 100 / 1024);
  EXPECT_NEAR(unfused_us(odd, Pass::forward),
              at_once(3 * 171.79869184 * 100 / 128, moving) + 167.77216, 1e-9);
}

TEST(UnfusedAttention, SmallHeadsMaySlowTheProducts) {
  // Half the operations at (64/128)^1 of the rate; large heads are as they were.
  DeviceCosts device = round_device();
  device.batched_gemm_head_exponent = estimate(1.0);
  AttentionShape shape = kShape;
  shape.head_size = 64;
  EXPECT_NEAR(unfused_us(shape, Pass::forward, device),
              at_once(171.79869184, 67.108864 * 1.125) + 167.77216, 1e-9);
  shape.head_size = 256;
  EXPECT_NEAR(unfused_us(shape, Pass::forward, device),
              at_once(2 * 171.79869184, 67.108864 * 1.5) + 167.77216, 1e-9);
}

TEST(UnfusedAttention, ProductsOfSmallHeadsWaitForTheirScores) {
  // Heads of 16 multiply for 21.5 us, and 8 x 1024^2 scores of 2 B and their operands of 1/32 pass
  // at 0.5 TB/s twice in 69.2.
  AttentionShape shape = kShape;
  shape.head_size = 16;
  const double products = at_once(21.47483648, 69.206016);
  EXPECT_LT(products, 1.01 * 69.206016);
  EXPECT_NEAR(unfused_us(shape, Pass::forward), products + 167.77216, 1e-9);
  EXPECT_NEAR(unfused_us(shape, Pass::backward), 2 * products + 1.5 * 167.77216, 1e-9);
}

TEST(UnfusedAttention, ProductsMoveAtTheRateOfCopies) {
  // What moves in 83.88608 us at half of 1 TB/s, at 0.8 of it; mask and softmax are as slow as
  // ever.
  DeviceCosts device = round_device();
  device.copy_efficiency = estimate(0.8);
  EXPECT_NEAR(unfused_us(kShape, Pass::forward, device),
              at_once(171.79869184, 83.88608 * 0.5 / 0.8) + 167.77216, 1e-9);
}

TEST(UnfusedAttention, ValuesMayBeNarrowerThanKeys) {
  // Half as wide: three quarters of the operations, and of 1024 x (128 + 64) numbers two of each
  // beside 2 x 1024^2 scores.
  AttentionShape shape = kShape;
  shape.value_head_size = 64;
  EXPECT_NEAR(unfused_us(shape, Pass::forward),
              at_once(0.75 * 171.79869184, 67.108864 * (1.0 + 192.0 / 1024)) + 167.77216, 1e-9);
}

TEST(Attention, OfNothingCostsNothing) {
  const AttentionShape none;
  EXPECT_EQ(fused_us(none, Pass::forward, plain_family()), 0.0);
  EXPECT_EQ(unfused_us(none, Pass::backward), 0.0);
}

TEST(MemoryPass, MovesTheBytesOfItsFamily) {
  KernelFamily unfused = plain_family();
  unfused.memory_traffic = estimate(2.0, 0.03);
  // 2 x 1 MB at 0.5 TB/s.
  const Cost cost = memory_pass_cost(round_device(), unfused, 1_MB);
  EXPECT_NEAR(kernel_us(cost), 4.0, 1e-12);
  EXPECT_NEAR(cost.spread, 0.05, 1e-12);
  EXPECT_EQ(cost.status, CostStatus::interpolated);
  EXPECT_EQ(memory_pass_cost(round_device(), unfused, 0_B).time, Seconds(0.0));
}

TEST(MemoryPass, FollowsTheMeasuredCurveWhereItReaches) {
  DeviceCosts device = round_device();
  device.memory_curve.points = {{1_MB, 10_us}, {3_MB, 20_us}};
  device.memory_curve.spread = 0.01;
  EXPECT_NEAR(kernel_us(memory_pass_cost(device, plain_family(), 2_MB)), 15.0, 1e-9);
  EXPECT_EQ(memory_pass_cost(device, plain_family(), 3_MB).status, CostStatus::exact);

  const Cost beyond = memory_pass_cost(device, plain_family(), 5_MB);
  EXPECT_NEAR(kernel_us(beyond), 10.0, 1e-9);
  EXPECT_EQ(beyond.status, CostStatus::extrapolated);
}

TEST(MemoryPass, NoMeasurementBeatsThePeak) {
  DeviceCosts device = round_device();
  device.memory_curve.points = {{1_MB, 1_ns}, {3_MB, 2_ns}};
  EXPECT_NEAR(kernel_us(memory_pass_cost(device, plain_family(), 2_MB)), 2.0, 1e-12);
}

TEST(Update, MovesItsBytesForEachParameterUnlessItWasMeasured) {
  // 1e6 parameters x 34 B at 0.5 TB/s.
  DeviceCosts device = round_device();
  EXPECT_NEAR(kernel_us(update_cost(device, 1e6)), 68.0, 1e-9);
  // Measured for 1 MB and 9 MB of weights: 1e6 parameters, 4 MB of fp32, lie 3/8 between them.
  device.optimizer_curve.points = {{1_MB, 100_us}, {9_MB, 900_us}};
  EXPECT_NEAR(kernel_us(update_cost(device, 1e6)), 400.0, 1e-9);
  EXPECT_NEAR(kernel_us(update_cost(device, 1e7)), 680.0, 1e-9);
}

TEST(Cast, MovesItsBytesForEachElement) {
  // 1e6 elements x 5 B at 0.5 TB/s.
  const Cost cost = cast_cost(round_device(), 1e6, Scaling::delayed);
  EXPECT_NEAR(kernel_us(cost), 10.0, 1e-12);
  EXPECT_NEAR(cost.spread, 0.05, 1e-12);
  // Other recipes move their own: 1e6 x 12 B.
  DeviceCosts device = round_device();
  device.recipe_cast_bytes[Scaling::current] = estimate(12.0);
  EXPECT_NEAR(kernel_us(cast_cost(device, 1e6, Scaling::current)), 24.0, 1e-12);
  EXPECT_THROW((void)cast_cost(device, 1e6, Scaling::mxfp8), InternalError);
}

TEST(RooflineBound, IsTheLongerOfOperationsAndBytes) {
  EXPECT_EQ(roofline_bound(round_device(), Flops(1e12), Precision::bf16, 1_GB), 10_ms);
  EXPECT_EQ(roofline_bound(round_device(), Flops(1e12), Precision::fp8, 1_GB), 5_ms);
  EXPECT_EQ(roofline_bound(round_device(), Flops(1e9), Precision::bf16, 1_GB), 1_ms);
}

}  // namespace
}  // namespace headway
