#include "sim/models/transformer/vision_tower.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/layers/exchanges.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_model_text;

/// Half of the positions are of images, each of four patches: two patches for each position.
VisionTower small_tower() {
  return {.layers = 3,
          .hidden = 64,
          .attention_heads = 4,
          .ffn_hidden = 256,
          .patches = 100,
          .patches_per_token = 4,
          .projector = {256},
          .image_share = 0.5};
}

TransformerModel small_model(const VisionTower& tower) {
  return {.layers = 2,
          .hidden = 32,
          .attention_heads = 2,
          .kv_heads = 2,
          .head_size = 16,
          .ffn_hidden = 128,
          .vision = tower,
          .vocabulary = 1000,
          .position_encoding = PositionEncoding::rotary,
          .sequence_length = 400};
}

/// What the tower adds, by the same model without it.
ForwardFlops added_flops(const VisionTower& tower) {
  TransformerModel model = small_model(tower);
  const ForwardFlops with = forward_flops(layers_of(model), 400);
  model.vision.reset();
  const ForwardFlops without = forward_flops(layers_of(model), 400);
  return {.products = with.products - without.products,
          .attention = with.attention - without.attention};
}

TEST(VisionTower, WorksOnThePatchesThatPositionsStandFor) {
  // Two patches for each position: 3 x 14^2 pixels of each, 3 layers of 4 h^2 + 2 h f; of half a
  // position four patches side by side, through 256, into 32.
  const double h = 64;
  const double products =
      2 * (3 * 14 * 14 * h) + 2 * 3 * (4 * h * h + 2 * h * 256) + 0.5 * (4 * h * 256 + 256 * 32);
  // Each attends to the 100 of its image, however long the sequence is.
  const double pairs = 3 * 2 * 100;
  const ForwardFlops flops = added_flops(small_tower());
  EXPECT_NEAR(flops.products, 2.0 * products, 1e-6);
  EXPECT_NEAR(flops.attention, 2.0 * 2.0 * h * pairs, 1e-6);
}

TEST(VisionTower, WindowsAndPoolingTakeLess) {
  // 2 of 3 layers attend to 25 patches; the mean of four goes through one product.
  VisionTower tower = small_tower();
  tower.window = 25;
  tower.full_attention_interval = 3;
  tower.pooled = true;
  tower.projector = {};
  const double h = 64;
  const ForwardFlops whole = added_flops(small_tower());
  const ForwardFlops flops = added_flops(tower);
  EXPECT_NEAR(whole.attention - flops.attention, 2.0 * 2.0 * h * 2 * 2 * 75, 1e-6);
  EXPECT_NEAR(whole.products - flops.products, 2.0 * 0.5 * (4 * h * 256 + 256 * 32 - h * 32), 1e-6);
}

TEST(VisionTower, AttentionIsOfImagesOfTheirOwn) {
  const Model model = layers_of(small_model(small_tower()));
  RankShape shape{.micro_batch = 2.0, .sequence_length = 400.0, .context_parallel = 2.0};
  const AttentionShape images = work(model.layer(0), shape).attention->shape;
  // 2 sequences of 400 positions are 1,600 patches, 16 images; each of two ranks has 8 of them.
  EXPECT_DOUBLE_EQ(images.sequences, 8.0);
  EXPECT_DOUBLE_EQ(images.query_length, 100.0);
  EXPECT_DOUBLE_EQ(images.key_length, 100.0);
  EXPECT_DOUBLE_EQ(images.query_heads, 4.0);
  EXPECT_FALSE(images.causal);
  // They have no keys to hand on, and are dealt out whole where heads are scattered, too.
  EXPECT_EQ(context_messages(model.layer(0), shape).keys, Bytes(0.0));
  EXPECT_GT(context_messages(model.layer(3), shape).keys, Bytes(0.0));
  shape.scattered_heads = true;
  EXPECT_EQ(work(model.layer(0), shape).attention->shape, images);
}

TEST(VisionTower, KeepsScoresOfImagesWhereAttentionIsWrittenOut) {
  const Model model = layers_of(small_model(small_tower()));
  const RankShape shape{.sequence_length = 400.0, .fused_attention = false};
  double scores = 0.0;
  for (const KeptTensor& tensor : model.layer(0).kept) {
    if (tensor.name == "softmax output")
      scores += kept_bytes(tensor, model.layer(0), shape).count();
  }
  EXPECT_DOUBLE_EQ(scores, 800.0 * 100.0 * 4 * 2);  // patches, those attended to, heads, bytes
}

TEST(VisionTower, ProjectorsMoveAndKeepWhatTheyWorkOn) {
  // Of a position 2 patches of 64 in front of the norm, and as half of it is of images, half of 256
  // in front of either product and of the activation, half of 32 behind; each read and written, in
  // 2 bytes.
  const Model model = layers_of(small_model(small_tower()));
  const RankShape one{.sequence_length = 1.0};
  const auto moved = [&](int layer) {
    double bytes = 0.0;
    for (const PassWork& pass : work(model.layer(layer), one).passes) bytes += pass.forward.count();
    return bytes;
  };
  EXPECT_DOUBLE_EQ(moved(2) - moved(1), 4 * (2 * 64 + 128 + 16.0));
  EXPECT_DOUBLE_EQ((kept_bytes(model.layer(2), one) - kept_bytes(model.layer(1), one)).count(),
                   2 * (2 * 64 + 128 + 128 + 128.0));
}

TEST(VisionTower, HandsOnItsPatchesAndTheWordsThatWait) {
  const Model model = layers_of(small_model(small_tower()));
  ASSERT_EQ(model.layer_count(), 5);
  EXPECT_EQ(model.leading_layers, 3);
  EXPECT_DOUBLE_EQ(model.layer(1).output, 2 * 64.0 + 32.0);
  EXPECT_DOUBLE_EQ(model.layer(2).output, 32.0);
}

/// The decoder of Qwen2-7B, 7,615,616,512 parameters.
const std::string kQwen2 = R"("hidden_size": 3584, "intermediate_size": 18944,
    "max_position_embeddings": 32768, "num_attention_heads": 28, "num_hidden_layers": 28,
    "num_key_value_heads": 4, "tie_word_embeddings": false, "use_sliding_window": false,
    "vocab_size": 152064)";

/// As many as are published, and as many when what was read is read again.
void expect_published(const std::string& config, std::int64_t parameters) {
  const ModelReading reading = read_model_text(config);
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  EXPECT_EQ(testing::parameters(reading), parameters);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(testing::parameters(again), parameters) << again.problems;
}

TEST(VisionTower, Qwen2VlHasItsPublishedParameters) {
  expect_published(R"({"model_type": "qwen2_vl", )" + kQwen2 + R"(, "vision_config": {"depth": 32,
      "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3, "hidden_size": 3584,
      "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})",
                   8'291'375'616);
}

TEST(VisionTower, Qwen25VlHasItsPublishedParameters) {
  const std::string config = R"({"model_type": "qwen2_5_vl", )" + kQwen2 + R"(, "vision_config":
      {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16,
       "out_hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2,
       "window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31], "temporal_patch_size": 2}})";
  expect_published(config, 8'292'166'656);
  // Windows of 8 x 8 patches, in all layers but the last of every eight.
  const Model model = read_model_text(config).read->model;
  EXPECT_EQ(model.layer(0).attention->block, 64.0);
  EXPECT_EQ(model.layer(7).attention->block, 1024.0);
  EXPECT_EQ(model.layer(31).attention->block, 1024.0);
}

TEST(VisionTower, LlavaLacksANormAndTheClassOfItsPublishedParameters) {
  // LLaVA-1.5-7B has 7,063,427,072. Its encoder has a norm of 2 x 1,024 in front, and a class of
  // 1,024, which nothing here has.
  expect_published(R"({"model_type": "llava", "text_config": {"model_type": "llama",
      "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
      "num_hidden_layers": 32, "vocab_size": 32064, "max_position_embeddings": 4096},
      "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
      "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
      "patch_size": 14}})",
                   7'063'427'072 - 3 * 1024);
}

// Of SigLIP's 27 layers 1,152 wide on 16 x 16 patches of 14: 412,442,352 with its last norm.
// PaliGemma puts one product of 1,152 x 2,048 and its bias behind it, and Gemma 2B with 257,216
// words.
// Published are 2,923,466,480: the patches' product has a bias, which nothing here has.
TEST(VisionTower, PaliGemmaLacksABiasOfItsPublishedParameters) {
  expect_published(R"({"model_type": "paligemma", "projection_dim": 2048, "text_config": {
      "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
      "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1,
      "vocab_size": 257216}, "vision_config": {"hidden_size": 1152, "intermediate_size": 4304,
      "model_type": "siglip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 27,
      "patch_size": 14, "projection_dim": 2048}})",
                   2'923'466'480 - 1152);
}

// On 27 x 27 patches, nine of which stand side by side for a product without a bias; SmolLM2 with a
// head of its own. Published are 2,246,272,880, with the bias of the patches' product.
TEST(VisionTower, SmolVlmLacksABiasOfItsPublishedParameters) {
  const std::string config = R"({"model_type": "idefics3", "scale_factor": 3, "text_config": {
      "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
      "max_position_embeddings": 16384, "num_attention_heads": 32, "num_hidden_layers": 24,
      "num_key_value_heads": 32, "tie_word_embeddings": false, "vocab_size": 49155},
      "vision_config": {"hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
      "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14}})";
  expect_published(config, 2'246'272'880 - 1152);
  const ModelReading reading = read_model_text(config);
  EXPECT_EQ(reading.read->transformer->vision->patches, 729);
  EXPECT_EQ(reading.read->transformer->vision->patches_per_token, 9);
}

// What the class of an encoder has may be left out: 12 layers of 768 on 16 x 16 patches of 32.
TEST(VisionTower, AnEncoderMayLeaveOutWhatItsClassHas) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "smolvlm", "scale_factor": 4, "text_config": {"model_type": "llama",
      "hidden_size": 576, "intermediate_size": 1536, "max_position_embeddings": 8192,
      "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
      "vocab_size": 49280}, "vision_config": {"hidden_size": 768, "image_size": 512,
      "num_attention_heads": 12}})");
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  const VisionTower& tower = *reading.read->transformer->vision;
  EXPECT_EQ(tower.layers, 12);
  EXPECT_EQ(tower.ffn_hidden, 3072);
  EXPECT_EQ(tower.patches, 256);
  EXPECT_EQ(tower.patches_per_token, 16);
}

TEST(VisionTower, SidesThatAreNoneLeaveTheDecoderAlone) {
  for (const std::string sides : {"[0, 0]", "[]", "[\"14\"]", "{}", "-1"}) {
    const ModelReading reading = read_model_text(R"({"model_type": "llava_onevision",
        "text_config": {"model_type": "qwen2", )" +
                                                 kQwen2 + R"(}, "vision_config": {
        "hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
        "num_attention_heads": 16, "num_hidden_layers": 26, "patch_size": )" +
                                                 sides + "}}");
    EXPECT_NE(reading.problems.find("warning: \"vision_config\" is not read"), std::string::npos)
        << sides;
    EXPECT_EQ(testing::parameters(reading), 7'615'616'512);
  }
}

// LLaVA-OneVision: a table of 729 patches and two products.
TEST(VisionTower, LlavaOneVisionSeesWithSiglip) {
  const ModelReading reading = read_model_text(R"({"model_type": "llava_onevision",
      "text_config": {"model_type": "qwen2", )" +
                                               kQwen2 + R"(}, "vision_config": {
      "hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
      "num_attention_heads": 16, "num_hidden_layers": 26, "patch_size": 14}})");
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  const VisionTower& tower = *reading.read->transformer->vision;
  EXPECT_EQ(tower.position_rows, 729);
  EXPECT_EQ(tower.projector, std::vector<std::int64_t>{3584});
}

TEST(VisionTower, OthersAreWithinAHundredthOfAPercent) {
  // Qwen3-VL-8B: 8,767,123,696; norms of queries, keys and some projectors are not counted.
  const ModelReading qwen3 = read_model_text(R"({"model_type": "qwen3_vl", "text_config": {
      "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
      "max_position_embeddings": 262144, "num_attention_heads": 32, "num_hidden_layers": 36,
      "num_key_value_heads": 8, "vocab_size": 151936}, "tie_word_embeddings": false,
      "vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
      "num_heads": 16, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2,
      "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]}})");
  EXPECT_NEAR(static_cast<double>(testing::parameters(qwen3)), 8'767'123'696.0, 1e-4 * 8.8e9);
  // Gemma 3 27B: 27,432,406,640.
  const ModelReading gemma = read_model_text(R"({"model_type": "gemma3", "mm_tokens_per_image": 256,
      "text_config": {"model_type": "gemma3_text", "head_dim": 128, "hidden_size": 5376,
      "intermediate_size": 21504, "num_attention_heads": 32, "num_hidden_layers": 62,
      "num_key_value_heads": 16, "sliding_window": 1024, "vocab_size": 262208},
      "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
      "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14}})");
  EXPECT_NEAR(static_cast<double>(testing::parameters(gemma)), 27'432'406'640.0, 1e-4 * 27.4e9);
}

const std::string kScenario = R"({"model": {"huggingface": {"model_type": "qwen2_vl", )" + kQwen2 +
                              R"(, "vision_config": {"depth": 2, "embed_dim": 1280,
    "num_heads": 16, "patch_size": 14}}, "images": )";

TEST(VisionTower, ATiedHeadSharesWordsAndNoPixels) {
  // Without a table of words for the head: 1,000 x 32 less, whatever the tower has.
  TransformerModel model = small_model(small_tower());
  const std::int64_t with_head = parameter_count(layers_of(model));
  model.tied_embeddings = true;
  const Model tied = layers_of(model);
  EXPECT_EQ(parameter_count(tied), with_head - 1000 * 32);
  EXPECT_EQ(tied_parameters(tied), 1000 * 32);
}

TEST(VisionTower, WhatIsSaidBesideAConfigurationCounts) {
  const ModelReading reading =
      testing::read_scenario_model(kScenario + R"({"share": 0.25, "patches": 4096}}})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  ASSERT_TRUE(reading.read->transformer->vision.has_value());
  EXPECT_EQ(reading.read->transformer->vision->image_share, 0.25);
  EXPECT_EQ(reading.read->transformer->vision->patches, 4096);
}

TEST(VisionTower, WhatNobodySaidIsToldOf) {
  const std::string problems = testing::read_scenario_model(kScenario + "{}}}").problems;
  EXPECT_NE(problems.find("half of all positions are taken to be of images"), std::string::npos);
  EXPECT_NE(problems.find("images are taken to have 1,024 patches"), std::string::npos);
}

TEST(VisionTower, WhatCannotBeIsRefused) {
  const auto problems = [](const std::string& vision) {
    return testing::read_scenario_model(kScenario + vision + "}}").problems;
  };
  EXPECT_NE(problems(R"({"share": 0})").find("share must be between 0.001 and 1"),
            std::string::npos);
  EXPECT_NE(problems(R"({"patch": 4})").find("did you mean \"patches\"?"), std::string::npos);
  const std::string uneven = problems(R"({"patches": 4095})");
  EXPECT_NE(uneven.find("4 does not divide 4095"), std::string::npos);
  EXPECT_NE(uneven.find("use 4096 patches, say"), std::string::npos);
  const std::string blind = testing::read_scenario_model(R"({"model": {"huggingface":
      {"model_type": "qwen2", )" + kQwen2 + R"(}, "images": {"share": 0.3}}})")
                                .problems;
  EXPECT_NE(blind.find("the configuration has no images that are read"), std::string::npos)
      << blind;
}

TEST(VisionTower, HeadsThatDivideNothingLeaveTheDecoderAlone) {
  const ModelReading reading = read_model_text(R"({"model_type": "qwen2_vl", )" + kQwen2 +
                                               R"(, "vision_config": {"depth": 2,
      "embed_dim": 1280, "num_heads": 7, "patch_size": 14}})");
  EXPECT_NE(reading.problems.find("warning: \"vision_config\" is not read"), std::string::npos);
  EXPECT_NE(reading.problems.find("attention_heads must divide hidden"), std::string::npos);
  EXPECT_EQ(testing::parameters(reading), 7'615'616'512);
}

TEST(VisionTower, FieldsOfOursAreHeldToEachOther) {
  const auto problems = [](const std::string& tower) {
    return read_model_text(R"({"schema": "headway/model/1", "layers": 2, "hidden": 64,
        "attention_heads": 4, "ffn_hidden": 256, "mlp": "plain", "vocabulary": 100,
        "sequence_length": 128, "vision": {"layers": 1, "hidden": 64, "attention_heads": 4, )" +
                           tower + "}}")
        .problems;
  };
  EXPECT_EQ(problems(R"("patches": 64, "window": 16, "patches_per_token": 4)"), "");
  EXPECT_NE(problems(R"("patches": 64, "window": 12)").find("12 does not divide 64"),
            std::string::npos);
  EXPECT_NE(problems(R"("patches": 64, "full_attention_interval": 2)").find("no layer has windows"),
            std::string::npos);
  EXPECT_NE(problems(R"("patch_size": 14)").find("missing field \"patches\""), std::string::npos);
}

}  // namespace
}  // namespace headway
