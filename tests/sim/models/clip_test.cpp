#include "sim/models/transformer/clip.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::read_model_text;

ClipModel base_of_32() {
  return {.layers = 12, .hidden = 768, .attention_heads = 12, .ffn_hidden = 3072};
}

/// openai/clip-vit-base-patch32. By hand of h = 768 and t = 512: patches without a bias, a token
/// for the image, positions, a norm, layers, another norm and a product; words, positions, layers,
/// a norm and a product; one number.
TEST(Clip, HasThePublishedParameters) {
  const std::int64_t h = 768;
  const std::int64_t t = 512;
  const std::int64_t images = 3 * 32 * 32 * h + h + 50 * h + 12 * (12 * h * h + 13 * h) + 4 * h;
  const std::int64_t texts = 49'408 * t + 77 * t + 12 * (12 * t * t + 13 * t) + 2 * t;
  EXPECT_EQ(images + h * 512 + texts + t * 512 + 1, 151'277'313);
  EXPECT_EQ(parameter_count(layers_of(base_of_32())), 151'277'313);
}

/// 49 patches, 50 tokens that see each other, 77 words that see those in front; a product of one
/// row of each.
TEST(Clip, WorksOnAnImageAndItsText) {
  const Model model = layers_of(base_of_32());
  ASSERT_EQ(model.layer_count(), 24);
  EXPECT_EQ(model.sequence_length, 50);
  EXPECT_FALSE(model.has_tokens);
  const double h = 768;
  const double t = 512;
  const double products =
      49 * 3 * 32 * 32 * h + 50 * 12 * 12 * h * h + 77 * 12 * 12 * t * t + 512 * (h + t);
  const double pairs = 12 * (50 * 2 * 50 * h + 77 * 2 * 77 / 2.0 * t);
  EXPECT_NEAR(50 * forward_flops(model, 50).total().count() / 2.0, products + pairs,
              1e-9 * products);
  const RankShape two{.micro_batch = 2.0, .sequence_length = 50.0};
  const Work text = work(model.layer(12), two);
  EXPECT_DOUBLE_EQ(text.attention->shape.query_length, 77.0);
  EXPECT_DOUBLE_EQ(text.attention->shape.key_length, 77.0);
  EXPECT_TRUE(text.attention->shape.causal);
  EXPECT_FALSE(work(model.layer(0), two).attention->shape.causal);
  // Words wait while images are worked on, and the image while words are.
  EXPECT_DOUBLE_EQ(model.first.output, model.layer(0).input);
  EXPECT_DOUBLE_EQ(50 * model.layer(0).output, 50 * h + 77 * t);
  EXPECT_DOUBLE_EQ(50 * model.layer(12).output, h + 77 * t);
  EXPECT_DOUBLE_EQ(model.layer(23).output, model.last.input);
  EXPECT_EQ(model.left_out.size(), 1U);
}

/// Of an image of 50 tokens of h and its 77 words of t, in 2 bytes. Words are read and written,
/// their positions two read and a sum written, as those of patches are; the norm in front of layers
/// reads and writes. Behind the layers what stands for the image and all words are normed, a row of
/// each is multiplied, and what both give is compared.
TEST(Clip, EndsMoveAndKeepWhatTheyWorkOn) {
  const Model model = layers_of(base_of_32());
  const RankShape image{.sequence_length = 50.0};
  const double h = 768;
  const double t = 512;
  double moved = 0.0;
  for (const PassWork& pass : work(model.first, image).passes) moved += pass.forward.count();
  EXPECT_NEAR(moved, 77 * t * (4 + 6) + 50 * h * (6 + 4), 1e-6);
  // Pixels of 49 patches in three colours, and what the norm in front takes.
  EXPECT_NEAR(kept_bytes(model.first, image).count(), 2 * (49 * 3 * 32 * 32 + 50 * h), 1e-6);
  EXPECT_NEAR(kept_bytes(model.last, image).count(), 2 * (h + 77 * t + h + t + 2 * 512), 1e-6);
  // Inputs of norms, in fp32 where the residual stream is.
  RankShape wide = image;
  wide.wide_residuals = true;
  const auto more = [&](const Layer& layer) {
    return (kept_bytes(layer, wide) - kept_bytes(layer, image)).count();
  };
  EXPECT_NEAR(more(model.first), 2 * 50 * h, 1e-6);
  EXPECT_NEAR(more(model.last), 2 * (h + 77 * t), 1e-6);
}

/// What stands in no half is as in the library, which is ViT-B/32; ViT-L/14 has 427,616,513.
TEST(Clip, ConfigurationsHaveAnObjectForEachHalf) {
  expect_parameters(R"({"model_type": "clip", "projection_dim": 512, "text_config": {},
    "vision_config": {"image_size": 224}})",
                    151'277'313);
  const std::string large = R"({"model_type": "clip", "architectures": ["CLIPModel"],
 "projection_dim": 768, "logit_scale_init_value": 2.6592,
 "text_config": {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
 "num_hidden_layers": 12, "max_position_embeddings": 77, "vocab_size": 49408},
 "vision_config": {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
 "num_hidden_layers": 24, "image_size": 224, "patch_size": 14)";
  expect_parameters(large + "}}", 427'616'513);
  EXPECT_NE(read_model_text(large + R"(, "num_channels": 1}})")
                .problems.find("images are in other than three colours"),
            std::string::npos);
  EXPECT_NE(read_model_text(R"({"model_type": "clip", "text_config": {"hidden_size": 500}})")
                .problems.find("8 does not divide 500"),
            std::string::npos);
}

/// google/siglip-base-patch16-224. By hand of h = 768: patches and biases, positions, layers and a
/// norm, 92,884,224 of images with what attends to the patches, 12 h^2 + 13 h and itself; words,
/// positions, layers, a norm and a product; two numbers.
TEST(Clip, SigLipPoolsPatchesByAttention) {
  const std::int64_t h = 768;
  const std::int64_t layers = 12 * (12 * h * h + 13 * h);
  const std::int64_t images = 3 * 16 * 16 * h + h + 196 * h + layers + 12 * h * h + 14 * h;
  EXPECT_EQ(images, 92'884'224);
  const std::int64_t texts = 32'000 * h + 64 * h + layers + 2 * h + h * h + h;
  EXPECT_EQ(images + texts + 2, 203'155'970);
  ClipModel fields = base_of_32();
  fields.attention_pooling = true;
  fields.patch_size = 16;
  fields.text_hidden = fields.projection_width = h;
  fields.text_heads = 12;
  fields.text_ffn_hidden = 3072;
  fields.text_positions = 64;
  fields.vocabulary = 32'000;
  const Model model = layers_of(fields);
  EXPECT_EQ(parameter_count(model), 203'155'970);
  EXPECT_EQ(model.sequence_length, 196);
  ASSERT_EQ(model.layer_count(), 25);
  // What attends is one row of an image, keys and values are made of all patches.
  const RankShape two{.micro_batch = 2.0, .sequence_length = 196.0};
  const Work pooling = work(model.layer(12), two);
  EXPECT_NEAR(pooling.linears[0].forward.m, 2.0, 1e-9);
  EXPECT_NEAR(pooling.linears[1].forward.m, 2.0 * 196, 1e-9);
  EXPECT_EQ(pooling.linears[1].forward.n, 2.0 * h);
  EXPECT_NEAR(pooling.attention->shape.query_length, 1.0, 1e-9);
  EXPECT_NEAR(pooling.attention->shape.key_length, 196.0, 1e-9);
  EXPECT_FALSE(work(model.layer(13), two).attention->shape.causal);
  EXPECT_NEAR(196 * model.layer(12).input, 196 * h + 64 * h, 1e-6);
  EXPECT_NEAR(196 * model.layer(12).output, h + 64 * h, 1e-6);
  EXPECT_DOUBLE_EQ(model.layer(13).input, model.layer(12).output);
  const RankShape image{.sequence_length = 196.0};
  // Pixels; behind, the norm of words takes all of them, the product one, and both are compared.
  EXPECT_NEAR(kept_bytes(model.first, image).count(), 2.0 * 196 * 3 * 16 * 16, 1e-6);
  EXPECT_NEAR(kept_bytes(model.last, image).count(), 2.0 * (64 * h + h + 2 * h), 1e-6);
  // Patches in front of their norm and behind it, keys and values, and one row: 14 h of a layer
  // without those two, and 4 bytes a head.
  EXPECT_NEAR(kept_bytes(model.layer(12), image).count(), 2.0 * (196 * 4 * h + 14 * h) + 4 * 12,
              1e-6);
}

TEST(Clip, ConfigurationsOfSigLipAreRead) {
  expect_parameters(R"({"model_type": "siglip", "text_config": {}, "vision_config": {}})",
                    203'155'970);
  // google/siglip-so400m-patch14-384: 729 patches of 378 pixels, 4,304 = 3.7 x 1,152.
  const std::string halves = R"("hidden_size": 1152, "intermediate_size": 4304,
 "num_attention_heads": 16, "num_hidden_layers": 27)";
  const std::string images = R"("image_size": 384, "patch_size": 14)";
  const std::string large = R"({"model_type": "siglip", "architectures": ["SiglipModel"],
 "text_config": {)" + halves +
                            R"(, "max_position_embeddings": 64, "vocab_size": 32000},
 "vision_config": {)" + halves +
                            ", " + images;
  expect_parameters(large + "}}", 877'960'498);
  expect_parameters(R"({"model_type": "siglip_vision_model", )" + halves + ", " + images + "}",
                    428'225'600 + 2 * 1153);
  expect_parameters(R"({"model_type": "siglip_vision_model"})", 92'884'224 + 2 * 769);
  const auto told = [](const std::string& config, const char* what) {
    const std::string problems = read_model_text(config).problems;
    EXPECT_NE(problems.find(what), std::string::npos) << problems;
  };
  told(large + R"(, "vision_use_head": false}})", "nothing attends to the patches");
  told(R"({"model_type": "siglip", "architectures": ["SiglipForImageClassification"]})",
       "a model of images has no half of texts");
  told(R"({"model_type": "siglip", "text_config": {"hidden_size": 512, "num_attention_heads": 8}})",
       "512, where an image has 768");
  told(R"({"model_type": "siglip_vision_model", "image_size": 10})",
       "model.json:1:53   /image_size");
  told(R"({"schema": "headway/model/1", "family": "clip", "layers": 1, "hidden": 64,
 "attention_heads": 2, "image_size": 16})",
       "an image has one patch at least");
  told(R"({"schema": "headway/model/1", "family": "vit", "layers": 1, "hidden": 64,
 "attention_heads": 2, "attention_pooling": true, "distilled": true})",
       "attention_pooling and distilled are two heads");
}

}  // namespace
}  // namespace headway
