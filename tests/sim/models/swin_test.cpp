#include "sim/models/transformer/swin.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
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

/// A stage of 7 patches a side is one window, whether windows are as large or larger.
TEST(Swin, AWindowIsNoLargerThanItsStage) {
  const Model model = layers_of(SwinModel{.window_size = 14});
  const AttentionShape last =
      work(model.layer(14), {.micro_batch = 2.0, .sequence_length = 56.0 * 56.0}).attention->shape;
  EXPECT_EQ(last.sequences, 2);
  EXPECT_EQ(last.query_length, 49);
}

/// Of an image, in 2 bytes. A merging copies 28 x 28 rows of four patches of 96 and norms them, and
/// keeps both; the norm of 56 x 56 patches reads and writes them. The head norms 7 x 7 patches of
/// 768, and takes the loss of one row: 6 bytes of each class.
TEST(Swin, EndsAndMergingsMoveAndKeepWhatTheyWorkOn) {
  const Model model = layers_of(SwinModel{});
  const RankShape image{.sequence_length = 56.0 * 56.0};
  const Work merging = work(model.layer(2), image);
  ASSERT_EQ(merging.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(merging.passes[0].forward.count(), 784 * (4 + 4) * 4 * 96.0);
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(2), image).count(), 2 * 2 * 784 * 4 * 96.0);
  const Work first = work(model.first, image);
  ASSERT_EQ(first.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(first.passes[0].forward.count(), 3136 * 4 * 96.0);
  // With the pixels of each, 4 x 4 in three colours.
  EXPECT_DOUBLE_EQ(kept_bytes(model.first, image).count(), 2 * 3136 * (96 + 48.0));
  const Work last = work(model.last, image);
  ASSERT_EQ(last.passes.size(), 1U);
  EXPECT_NEAR(last.passes[0].forward.count(), 6 * 1000.0, 1e-9);
  EXPECT_NEAR(kept_bytes(model.last, image).count(), 2 * (49 + 1) * 768.0, 1e-6);
}

/// What norms take in front of a merging and of the head, in 4 bytes instead of 2.
TEST(Swin, KeepsInputsOfNormsInFp32WhereTheResidualStreamIs) {
  const Model model = layers_of(SwinModel{});
  const RankShape image{.sequence_length = 56.0 * 56.0};
  RankShape wide = image;
  wide.wide_residuals = true;
  const auto more = [&](const Layer& layer) {
    return (kept_bytes(layer, wide) - kept_bytes(layer, image)).count();
  };
  EXPECT_DOUBLE_EQ(more(model.layer(2)), 2 * 784 * 4 * 96.0);
  EXPECT_NEAR(more(model.last), 2 * 49 * 768.0, 1e-6);
}

}  // namespace
}  // namespace headway
