#include <gtest/gtest.h>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/read_measurements.h"
#include "tests/sim/costs/round_device.h"

namespace headway {
namespace {

TEST(Sustain, SlowsWhatTheArithmeticBoundsAndWasMeasuredHere) {
  DeviceCosts device = round_device();
  const GemmShape large{4096, 4096, 4096};
  const GemmShape skinny{8, 8192, 8192};  // 134 MB for 1.07 GFLOP
  device.gemm_table = {{large, Precision::bf16, 3.0_ms, 0.01},
                       {skinny, Precision::bf16, 0.2_ms, 0.01}};
  const double of_fp8 = device.gemm_efficiency.at(Precision::fp8).value;
  const double of_attention = device.attention_efficiency.value;
  const double of_bf16 = device.gemm_efficiency.at(Precision::bf16).value;
  sustain(device, 0.75);
  EXPECT_NEAR(gemm_cost(device, large, Precision::bf16).time / 4.0_ms, 1.0, 1e-12);
  EXPECT_EQ(gemm_cost(device, skinny, Precision::bf16).time, 0.2_ms);
  EXPECT_EQ(device.gemm_efficiency.at(Precision::bf16).value, 0.75 * of_bf16);
  // Nobody measured these here.
  EXPECT_EQ(device.gemm_efficiency.at(Precision::fp8).value, of_fp8);
  EXPECT_EQ(device.attention_efficiency.value, of_attention);
}

TEST(Sustain, SlowsMeasuredAttentionToo) {
  DeviceCosts device = round_device();
  device.attention_table = {{{.sequences = 1,
                              .query_length = 4096,
                              .key_length = 4096,
                              .query_heads = 32,
                              .key_heads = 32,
                              .head_size = 128},
                             Pass::forward,
                             3.0_ms,
                             0.01}};
  const double before = device.attention_efficiency.value;
  sustain(device, 0.75);
  EXPECT_NEAR(device.attention_table.front().time / 4.0_ms, 1.0, 1e-12);
  EXPECT_EQ(device.attention_efficiency.value, 0.75 * before);
}

}  // namespace
}  // namespace headway
