// Scans of states in a layer, small enough to add up on paper.
#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/model.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

/// 12 operations a token and 30 backward, 8 and 20 bytes.
Layer scanned_layer() {
  Layer layer;
  layer.scans = {{.name = "scan",
                  .forward = 12.0,
                  .backward = 30.0,
                  .moved = {8.0, 20.0},
                  .again = {{RecomputePart::alternate, 0.5}}}};
  return layer;
}

TEST(StateScans, CountWithAttentionWhateverIsMasked) {
  const ForwardFlops flops = forward_flops(scanned_layer(), 8);
  EXPECT_EQ(flops.products, 0.0);
  EXPECT_EQ(flops.attention, 12.0);
  EXPECT_EQ(flops.attention_square, 12.0);
  EXPECT_EQ(recomputed_flops(scanned_layer(), 8, {RecomputePart::alternate}).count(), 6.0);
  EXPECT_EQ(recomputed_flops(scanned_layer(), 8, {RecomputePart::mlp}).count(), 0.0);
}

TEST(StateScans, AreCutByChannelsAndMoveWhatElementsTake) {
  // 2 samples of 8 tokens, 4 ranks; then elements of 4 bytes.
  RankShape shape{.micro_batch = 2, .sequence_length = 8, .tensor_parallel = 4};
  const Work cut = work(scanned_layer(), shape);
  ASSERT_EQ(cut.scans.size(), 1U);
  EXPECT_EQ(cut.scans[0].forward, Flops(16 * 12 / 4.0));
  EXPECT_EQ(cut.scans[0].backward, Flops(16 * 30 / 4.0));
  EXPECT_EQ(cut.scans[0].forward_moved, Bytes(16 * 8 / 4.0));
  EXPECT_EQ(cut.scans[0].backward_moved, Bytes(16 * 20 / 4.0));
  EXPECT_EQ(cut.scans[0].again.share({RecomputePart::alternate}), 0.5);
  shape.element_bytes = 4;
  EXPECT_EQ(work(scanned_layer(), shape).scans[0].forward_moved, Bytes(16 * 16 / 4.0));
  Layer whole = scanned_layer();
  whole.scans[0].cut = Cut::none;
  EXPECT_EQ(work(whole, shape).scans[0].forward, Flops(16 * 12));
}

TEST(StateScans, MakeALayerOneThatRecomputes) {
  Model model;
  append_layers(model, scanned_layer());
  EXPECT_TRUE(model.recomputes(RecomputePart::alternate));
  EXPECT_FALSE(model.recomputes(RecomputePart::mlp));
}

}  // namespace
}  // namespace headway
