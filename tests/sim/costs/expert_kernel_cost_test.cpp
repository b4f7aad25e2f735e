#include <gtest/gtest.h>

#include <cmath>

#include "sim/costs/kernel_cost.h"
#include "tests/sim/costs/round_device.h"

namespace headway {
namespace {

ExpertCosts round_experts() {
  ExpertCosts costs;
  costs.grouped_efficiency = estimate(0.8);
  costs.grouped_half_rows = estimate(100.0);
  costs.permutation_bytes = estimate(5.0);
  return costs;
}

constexpr GemmShape kExpert{.m = 1000, .n = 4000, .k = 2000};

TEST(GroupedGemm, SeveralExpertsShareALaunchAtTheirOwnEfficiency) {
  // 4 x 16 GFLOP at 0.8 of 50 TFLOP/s, 1.1 times for rows of 1,000.
  EXPECT_DOUBLE_EQ(
      grouped_gemm_cost(round_device(), round_experts(), kExpert, 4, 1000, Precision::bf16)
          .time.count(),
      64e9 / 40e12 * 1.1);
}

TEST(GroupedGemm, ASingleExpertIsAPlainProduct) {
  EXPECT_DOUBLE_EQ(
      grouped_gemm_cost(round_device(), round_experts(), kExpert, 1, 1000, Precision::bf16)
          .time.count(),
      16e9 / 50e12 * 1.1);
}

TEST(GroupedGemm, FewRowsAreBoundByTheWeights) {
  // 4 x 2 (10 x 2,000 + 2,000 x 4,000 + 10 x 4,000) bytes at 0.5 TB/s, and as much as 100 rows of
  // each expert take to start: 4 x 2 x 100 x 2,000 x 4,000 operations at 40 TFLOP/s.
  EXPECT_DOUBLE_EQ(grouped_gemm_cost(round_device(), round_experts(),
                                     {.m = 10, .n = 4000, .k = 2000}, 4, 10, Precision::bf16)
                       .time.count(),
                   4 * 2 * 8.06e6 / 0.5e12 + 6.4e9 / 40e12);
}

TEST(GroupedGemm, MoreRowsNeverTakeLess) {
  for (const bool is_weight_gradient : {false, true}) {
    double before = 0.0;
    for (double rows = 1.0; rows < 1e5; rows *= 1.5) {
      const GemmShape shape = is_weight_gradient ? GemmShape{.m = 4000, .n = 2000, .k = rows}
                                                 : GemmShape{.m = rows, .n = 4000, .k = 2000};
      const double time =
          grouped_gemm_cost(round_device(), round_experts(), shape, 128, rows, Precision::bf16)
              .time.count();
      EXPECT_GT(time, before) << rows << " rows";
      before = time;
    }
  }
}

TEST(GroupedGemm, NothingRoutedCostsNothing) {
  EXPECT_EQ(grouped_gemm_cost(round_device(), round_experts(), {.m = 0, .n = 8, .k = 8}, 4, 0,
                              Precision::bf16)
                .time,
            0_s);
}

TEST(Permutation, MovesRowsThereAndBack) {
  // 2 x 5 bytes of each element at 0.5 TB/s.
  EXPECT_DOUBLE_EQ(
      permutation_cost(round_device(), plain_family(), round_experts(), 1e9).time.count(),
      10e9 / 0.5e12);
}

AttentionShape square() {
  return {.sequences = 1,
          .query_length = 4096,
          .key_length = 4096,
          .query_heads = 8,
          .key_heads = 8,
          .head_size = 128,
          .causal = true};
}

double forward(const DeviceCosts& device, const AttentionShape& shape) {
  return fused_attention_cost(device, plain_family(), shape, Pass::forward).time.count();
}

TEST(WindowedAttention, SavesAShareOfWhatTheWindowHides) {
  DeviceCosts device = round_device();
  AttentionShape shape = square();
  const double whole = forward(device, shape);
  shape.window = 1024;
  // A quarter of the positions leaves 1/4 x (2 - 1/4) = 7/16 of the pairs.
  EXPECT_DOUBLE_EQ(shape.window_share(), 7.0 / 16.0);
  EXPECT_NEAR(forward(device, shape), 7.0 / 16.0 * whole, 1e-12 * whole);
  device.attention_window_saving = estimate(0.4);
  EXPECT_NEAR(forward(device, shape), (1.0 - 0.4 * 9.0 / 16.0) * whole, 1e-12 * whole);
  shape.window = 4096;
  EXPECT_DOUBLE_EQ(forward(device, shape), whole);
}

TEST(WindowedAttention, IsKnownAsWellAsWhatAWindowSaves) {
  // A fifth of 0.4 x 9/16 of the time, which is 1 - 0.4 x 9/16 with a window, beside 3 % of the
  // rate.
  DeviceCosts device = round_device();
  device.attention_window_saving = estimate(0.4, 0.2);
  AttentionShape shape = square();
  shape.window = 1024;
  const double saved = 0.4 * 9.0 / 16.0;
  EXPECT_NEAR(fused_attention_cost(device, plain_family(), shape, Pass::forward).spread,
              std::hypot(0.03, 0.2 * saved / (1.0 - saved)), 1e-12);
}

TEST(WindowedAttention, SinksSlowItDown) {
  DeviceCosts device = round_device();
  AttentionShape shape = square();
  const double without = forward(device, shape);
  device.attention_sink_factor = estimate(3.0);
  EXPECT_DOUBLE_EQ(forward(device, shape), without);
  shape.sinks = true;
  EXPECT_NEAR(forward(device, shape), 3.0 * without, 1e-12 * without);
}

TEST(LatentAttentionCost, CountsKeysAndValuesOfTheirOwnSizes) {
  AttentionShape shape = square();
  const double equal = forward(round_device(), shape);
  shape.head_size = 192;
  shape.value_head_size = 128;
  EXPECT_NEAR(forward(round_device(), shape), (192.0 + 128.0) / 256.0 * equal, 1e-12 * equal);
}

// Short sequences are bound by memory, whose whole bandwidth a kernel may have: queries and results
// of 3 positions and 8 heads, keys and values of 2 positions and 4, of 192 + 128 numbers in 2
// bytes, at 1 TB/s; backward twice.
TEST(AttentionRoofline, MovesQueriesKeysValuesAndResultsOnce) {
  DeviceCosts device = round_device();
  device.attention_sequence_half = estimate(0.0);
  device.peak_flops[Precision::bf16] = estimate(1e18);
  const AttentionShape shape{.sequences = 5000,
                             .query_length = 3,
                             .key_length = 2,
                             .query_heads = 8,
                             .key_heads = 4,
                             .head_size = 192,
                             .value_head_size = 128};
  const double moved = 5000.0 * (192 + 128) * (3 * 8 + 2 * 4) * 2.0;
  EXPECT_NEAR(forward(device, shape), moved / 1e12, 1e-15);
  EXPECT_NEAR(fused_attention_cost(device, plain_family(), shape, Pass::backward).time.count(),
              2.0 * moved / 1e12, 1e-15);
}

}  // namespace
}  // namespace headway
