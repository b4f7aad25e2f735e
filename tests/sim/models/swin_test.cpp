#include "sim/models/transformer/swin.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

SwinModel swin_base() { return {.depths = {2, 2, 18, 2}, .hidden = 128, .attention_heads = 4}; }

/// Liu et al. 2021, table 1: 29 M and 88 M; torchvision's swin_t and swin_b.
TEST(Swin, HasThePublishedParameters) {
  EXPECT_EQ(parameter_count(layers_of(SwinModel{})), 28'288'354);
  EXPECT_EQ(parameter_count(layers_of(swin_base())), 87'768'224);
}

/// Liu et al. 2021, table 1: 4.5 and 15.4 G multiplications an image.
TEST(Swin, AnImageTakesThePublishedMultiplications) {
  const auto multiplications = [](const SwinModel& fields) {
    return 56 * 56 * forward_flops(layers_of(fields), 56 * 56).total().count() / 2.0;
  };
  EXPECT_NEAR(multiplications(SwinModel{}) / 1e9, 4.5, 0.05);
  EXPECT_NEAR(multiplications(swin_base()) / 1e9, 15.4, 0.1);
}

/// Layers, and between two stages a merging: of 56, 28, 14 and 7 patches a side, which is a window
/// of the last stage, whose windows do not move.
TEST(Swin, PatchesAttendToThoseOfTheirWindow) {
  const Model model = layers_of(SwinModel{});
  ASSERT_EQ(model.layer_count(), 12 + 3);
  EXPECT_EQ(model.sequence_length, 56 * 56);
  EXPECT_TRUE(model.biases_scores);
  const RankShape two{.micro_batch = 2.0, .sequence_length = 56.0 * 56.0};
  const Work first = work(model.layer(0), two);
  EXPECT_EQ(first.attention->shape.sequences, 2 * 8 * 8);
  EXPECT_EQ(first.attention->shape.query_length, 49);
  EXPECT_EQ(first.attention->shape.key_length, 49);
  EXPECT_EQ(work(model.layer(14), two).attention->shape.sequences, 2);
  EXPECT_EQ(model.layer(2).name, "patch merging");
  EXPECT_DOUBLE_EQ(model.layer(2).input, model.layer(1).output);
  EXPECT_DOUBLE_EQ(model.layer(2).output, model.layer(3).input);
  EXPECT_DOUBLE_EQ(model.layer(14).output, model.last.input);
  // Every second layer rolls its patches to the windows' new places and back.
  const auto copies = [&](int layer) {
    return work(model.layer(layer), two).passes.back().forward.count();
  };
  EXPECT_DOUBLE_EQ(copies(0), 2 * 3136 * 8 * 96.0);
  EXPECT_DOUBLE_EQ(copies(1), 2 * copies(0));
  EXPECT_EQ(model.layers[13], model.layers[14]);
}

}  // namespace
}  // namespace headway
