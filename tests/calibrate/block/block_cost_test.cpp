#include "calibrate/block/block_cost.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

// On the even profile: products at 50 TFLOP/s in bf16, half of it in batches; 0.5 TB/s.
constexpr BlockShape kShape{.sequences = 2, .sequence = 1024, .hidden = 1024, .heads = 16};

TEST(BlockCost, CountsTheOperationsOfTheBook) {
  // t = 2048 positions of h = 1024. Whole products: 24 t h^2 forward and twice as many backward
  // (Narayanan et al. 2021, appendix), 72 * 2048 * 1024^2 = 1.54619e11 over 50e12. Attention's: 4 t
  // s h forward and twice as many backward, 12 * 2048 * 1024 * 1024 = 2.57698e10 over 25e12 take
  // 1.0307922 ms, while six products move 32 * 1024^2 scores and 2 * 2048 * 1024 operands of 2 bytes
  // each at 0.5e12 in 0.9059697 ms: (1.0307922^3 + 0.9059697^3)^(1/3) ms.
  const BlockCost cost = block_cost(even_profile(), kShape, Precision::bf16);
  EXPECT_NEAR(cost.products.count(), 3.0923765e-3, 1e-9);
  EXPECT_NEAR(cost.attention.count(), 1.2251304e-3, 1e-9);
}

TEST(BlockCost, CountsTheBytesOfEveryPass) {
  // E = 2048 * 1024 elements of 2 bytes, scores 16 E. Forward: two norms of 4 bytes an element, two
  // additions of 6, GELU of 4 over 4 E, softmax of 4 over 16 E: 8 + 12 + 16 + 64 = 100 E bytes.
  // Backward: the loss's addition and two others of 6, GELU's of 6 over 4 E, two norms' of 6,
  // softmax's of 6 over 16 E: 18 + 24 + 12 + 96 = 150 E. Together 250 * 2097152 over 0.5e12.
  // Update of 12 h^2 weights: 34 bytes each, and 6 to round them to 2 bytes.
  const BlockCost cost = block_cost(even_profile(), kShape, Precision::bf16);
  EXPECT_NEAR(cost.passes.count(), 250.0 * 2097152.0 / 0.5e12, 1e-12);
  EXPECT_NEAR(cost.update.count(), 12.0 * 1048576.0 * 40.0 / 0.5e12, 1e-12);
}

TEST(BlockCost, CountsTheGapBehindEveryKernel) {
  // Forward: 2 norms, 2 additions, GELU, softmax, 4 products and 2 for each of 2 sequences: 14.
  // Backward: 2 norms, 3 additions, GELU, softmax, 8 products and 4 a sequence: 23. Updates: 4, and
  // as many roundings. Together 45 of 2 us.
  Profile profile = even_profile();
  profile.kernel_families.begin()->second.launch_gap = estimate(2e-6);
  const BlockCost cost = block_cost(profile, kShape, Precision::bf16);
  EXPECT_NEAR(cost.gaps.count(), 90e-6, 1e-12);
  EXPECT_EQ(cost.total(), cost.products + cost.attention + cost.passes + cost.update + cost.gaps);
}

TEST(BlockCost, IsALayerOfTwelveSquares) {
  const Layer layer = block_layer(kShape, Precision::bf16);
  EXPECT_DOUBLE_EQ(parameters(layer).total(), 12.0 * 1048576.0);
  // 24 h^2 a position of products and 4 s h of attention, no mask.
  const ForwardFlops flops = forward_flops(layer, kShape.sequence);
  EXPECT_DOUBLE_EQ(flops.products, 24.0 * 1048576.0);
  EXPECT_DOUBLE_EQ(flops.attention, 4.0 * 1048576.0);
}

TEST(BlockCost, RoundsNoWeightsInFp32) {
  const BlockCost cost = block_cost(even_profile(), kShape, Precision::fp32);
  EXPECT_NEAR(cost.update.count(), 12.0 * 1048576.0 * 34.0 / 0.5e12, 1e-12);
}

TEST(BlockCost, SaysHowFarTheProfileIsOff) {
  BlockRun run{kShape, Precision::bf16, 20, 10.0_ms, 0.012};
  EXPECT_EQ(block_text(run, {4.0_ms, 2.0_ms, 1.5_ms, 1.0_ms, 0.5_ms}),
            "2 x 1024 positions, hidden 1024, 16 heads, bf16, forward, backward and Adam: 10 ms "
            "measured over 20 steps (+- 1.2 %), 9 ms by this profile (-10.0 %): products 4 ms, "
            "attention's 2 ms, passes 1.5 ms, update 1 ms, gaps 500 us");
}

}  // namespace
}  // namespace headway
