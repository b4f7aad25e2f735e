#include "sim/models/transformer/vision_transformer.h"

#include <gtest/gtest.h>

#include "sim/files/json_reader.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/families.h"

namespace headway {

ModelFamily vision_transformer();

namespace {

VisionTransformerModel vit_base() {
  return {.layers = 12, .hidden = 768, .attention_heads = 12, .ffn_hidden = 3072};
}

TEST(VisionTransformer, HasThePublishedParameters) {
  // torchvision.models.vit_b_16. By hand: patches 3 x 16^2 h + h, class token h, positions 197 h,
  // 12 layers of 12 h^2 + 13 h, a norm of 2 h, a head of 1000 (h + 1).
  EXPECT_EQ(parameter_count(layers_of(vit_base())), 86'567'656);
}

TEST(VisionTransformer, AnImageTakesSeventeenGigaMultiplications) {
  // torchvision counts 17.56 GMAC of ViT-B/16. By hand: 196 patches of 768 x 768, 197 tokens of
  // 12 layers of 12 h^2 + 2 x 197 h, the head once.
  const double h = 768;
  const double by_hand = 196 * 768 * h + 197 * 12 * (12 * h * h + 2 * 197 * h) + 1000 * h;
  const Model model = layers_of(vit_base());
  EXPECT_EQ(model.sequence_length, 197);
  EXPECT_FALSE(model.has_tokens);  // images are counted
  const double tokens = 197 * forward_flops(model, 197).total().count() / 2.0;
  EXPECT_NEAR(tokens, by_hand, 1e-9 * by_hand);
  EXPECT_NEAR(tokens / 1e9, 17.56, 0.005);
}

TEST(VisionTransformer, NothingInFrontOfThePatchesIsTrained) {
  const Work first = work(layers_of(vit_base()).first, {.micro_batch = 2, .sequence_length = 197});
  ASSERT_EQ(first.linears.size(), 1U);
  EXPECT_FALSE(first.linears[0].input_gradient);
  EXPECT_EQ(first.linears[0].forward, (GemmShape{2 * 196, 768, 768}));
}

TEST(VisionTransformer, EndsMoveAndKeepWhatTheyWorkOn) {
  // Positions: two terms read and their sum written in 2 bytes, backward likewise. The loss of an
  // image is one row of 197: 6 bytes a class, 12 backward.
  const Model model = layers_of(vit_base());
  const RankShape image{.sequence_length = 197};
  const Work first = work(model.first, image);
  ASSERT_EQ(first.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(first.passes[0].forward.count(), 197 * 6 * 768.0);
  EXPECT_DOUBLE_EQ(first.passes[0].backward.count(), 197 * 6 * 768.0);
  // Pixels of 196 patches in three colours, for the gradient of the weights.
  EXPECT_NEAR(kept_bytes(model.first, image).count(), 2 * 196 * 3 * 16 * 16.0, 1e-6);
  const Work last = work(model.last, image);
  ASSERT_EQ(last.passes.size(), 1U);
  EXPECT_NEAR(last.passes[0].forward.count(), 6 * 1000.0, 1e-9);
  EXPECT_NEAR(last.passes[0].backward.count(), 12 * 1000.0, 1e-9);
  EXPECT_NEAR(last.linears[0].forward.m, 1.0, 1e-12);
  // Every row in front of the norm, one behind it.
  EXPECT_NEAR(kept_bytes(model.last, image).count(), 2 * (197 + 1) * 768.0, 1e-6);
  EXPECT_NEAR(197 * model.last.loss_classes, 1000.0, 1e-9);
}

TEST(VisionTransformer, PatchesDivideTheImage) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse(
      "vit.json",
      R"({"layers": 1, "hidden": 8, "attention_heads": 2, "image_size": 30, "patch_size": 16})",
      diagnostics);
  ObjectReader reader{JsonCursor(document), diagnostics};
  static_cast<void>(vision_transformer().read(reader));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].label, "16 does not divide 30");
  EXPECT_EQ(diagnostics.all()[0].help, "use an image_size of 32");
}

TEST(VisionTransformer, GainsOfALayerAreRowsOfTwoPasses) {
  // What attention and the MLP give is read and written in 2 bytes, and kept for the gradient.
  VisionTransformerModel fields = vit_base();
  const Model plain = layers_of(fields);
  fields.layer_scale = true;
  const Model scaled = layers_of(fields);
  const RankShape image{.sequence_length = 197};
  const Work work_of_layer = work(scaled.layer(0), image);
  ASSERT_EQ(work_of_layer.passes.size(), work(plain.layer(0), image).passes.size() + 1);
  EXPECT_DOUBLE_EQ(work_of_layer.passes.back().forward.count(), 197 * 2 * 4 * 768.0);
  EXPECT_DOUBLE_EQ((kept_bytes(scaled.layer(0), image) - kept_bytes(plain.layer(0), image)).count(),
                   197 * 2 * 2 * 768.0);
  EXPECT_EQ(parameter_count(scaled) - parameter_count(plain), 12 * 2 * 768);
}

}  // namespace
}  // namespace headway
