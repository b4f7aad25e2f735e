#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

nlohmann::json labels(int count) {
  nlohmann::json names;
  for (int i = 0; i < count; ++i) names[std::to_string(i)] = "a thing";
  return names;
}

nlohmann::json deit(const std::string& architecture) {
  return {{"model_type", "deit"},      {"architectures", {architecture}},
          {"hidden_size", 768},        {"num_hidden_layers", 12},
          {"num_attention_heads", 12}, {"intermediate_size", 3072},
          {"image_size", 224},         {"patch_size", 16},
          {"encoder_stride", 16},      {"num_channels", 3},
          {"qkv_bias", true},          {"hidden_dropout_prob", 0.0},
          {"id2label", labels(1000)}};
}

/// 87 M (Touvron et al. 2020, arXiv:2012.12877, table 5): ViT-B/16, which has 86,567,656, with a
/// token more, its position and a second head of 768 x 1000 and biases.
TEST(HuggingFaceImages, DeitHasASecondTokenThatLearnsFromATeacher) {
  const std::string taught = deit("DeiTForImageClassificationWithTeacher").dump();
  expect_parameters(taught, 86'567'656 + 2 * 768 + 769 * 1000);
  const ModelReading reading = read_model_text(taught);
  EXPECT_EQ(reading.read->model.sequence_length, 198);
  EXPECT_DOUBLE_EQ(198 * reading.read->model.last.loss_classes, 2 * 1000.0);
  EXPECT_EQ(reading.read->model.left_out.size(), 1U);
  expect_parameters(deit("DeiTForImageClassification").dump(), 86'567'656);
}

nlohmann::json dinov2(int layers, int hidden, int heads, int classes) {
  nlohmann::json config = {{"model_type", "dinov2"},
                           {"hidden_size", hidden},
                           {"num_hidden_layers", layers},
                           {"num_attention_heads", heads},
                           {"mlp_ratio", 4},
                           {"image_size", 518},
                           {"patch_size", 14},
                           {"num_channels", 3},
                           {"layerscale_value", 1.0},
                           {"use_swiglu_ffn", false}};
  if (classes > 0) config["id2label"] = labels(classes);
  return config;
}

/// 86,580,480 and 1,136,480,768 without a head (Oquab et al. 2023, arXiv:2304.07193, table 15: 86 M
/// and 1,100 M); the head takes twice the channels. Of h channels one token, that of hidden
/// patches, is left out.
TEST(HuggingFaceImages, DinoV2HasItsPublishedParameters) {
  const auto without_head = [](std::int64_t layers, std::int64_t h, std::int64_t mlp) {
    const std::int64_t layer = 4 * h * h + 4 * h + mlp + 4 * h + 2 * h;
    return 3 * 14 * 14 * h + h + (37 * 37 + 1) * h + 2 * h + layers * layer + 2 * h;
  };
  EXPECT_EQ(without_head(12, 768, 8 * 768 * 768 + 5 * 768), 86'580'480);
  expect_parameters(dinov2(12, 768, 12, 1000).dump(), 86'580'480 - 768 + (2 * 768 + 1) * 1000);
  expect_parameters(dinov2(12, 768, 12, 0).dump(), 86'580'480 - 768 + (2 * 768 + 1) * 2);
  // The giant has gated MLPs of 4,096 = 2/3 of 4 x 1,536.
  EXPECT_EQ(without_head(40, 1536, 3 * 1536 * 4096 + 2 * 4096 + 1536), 1'136'480'768);
  nlohmann::json giant = dinov2(40, 1536, 24, 0);
  giant["use_swiglu_ffn"] = true;
  expect_parameters(giant.dump(), 1'136'480'768 - 1536 + (2 * 1536 + 1) * 2);
}

/// 88 M (Liu et al. 2021, arXiv:2103.14030, table 1), and 384 pixels in windows of 12 patches,
/// whose tables have 23 x 23 distances; what is left out is as in Swin-T.
TEST(HuggingFaceImages, SwinHasItsPublishedParameters) {
  nlohmann::json base = {{"model_type", "swin"},    {"embed_dim", 128},
                         {"depths", {2, 2, 18, 2}}, {"num_heads", {4, 8, 16, 32}},
                         {"num_layers", 4},         {"hidden_size", 1024},
                         {"mlp_ratio", 4.0},        {"window_size", 7},
                         {"image_size", 224},       {"patch_size", 4},
                         {"num_channels", 3},       {"encoder_stride", 32},
                         {"id2label", labels(1000)}};
  expect_parameters(base.dump(), 87'768'224);
  base["image_size"] = 384;
  base["window_size"] = 12;
  const std::int64_t heads = 2 * 4 + 2 * 8 + 18 * 16 + 2 * 32;
  expect_parameters(base.dump(), 87'768'224 + heads * (23 * 23 - 13 * 13));
  expect_parameters(nlohmann::json({{"model_type", "swin"}}).dump(), 28'288'354);

  const auto problems = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json config = base;
    config[key] = value;
    return read_model_text(config.dump()).problems;
  };
  EXPECT_NE(problems("num_heads", {4, 8, 8, 8}).find("expected [4,8,16,32]"), std::string::npos);
  EXPECT_NE(problems("depths", nlohmann::json::array()).find("stages are 1 to 8"),
            std::string::npos);
  EXPECT_NE(problems("use_absolute_embeddings", true).find("patches have positions as well"),
            std::string::npos);
}

TEST(HuggingFaceImages, WhatIsMissingOrOtherwiseIsTold) {
  nlohmann::json config = dinov2(12, 768, 12, 2);
  config["mlp_ratio"] = 0;
  EXPECT_NE(read_model_text(config.dump()).problems.find("/mlp_ratio"), std::string::npos);
  config = dinov2(12, 768, 12, 2);
  config["num_channels"] = 1;
  EXPECT_NE(read_model_text(config.dump()).problems.find("images are in other than three colours"),
            std::string::npos);
  config = {{"model_type", "clip"},
            {"vision_config", {{"num_foo_layers", 3}, {"projection_dim", 512}}}};
  EXPECT_NE(read_model_text(config.dump()).problems.find("\"num_foo_layers\" is not read"),
            std::string::npos);
  EXPECT_EQ(read_model_text(config.dump()).problems.find("\"projection_dim\" is not"),
            std::string::npos);
  config = deit("DeiTForImageClassification");
  config.erase("hidden_size");
  EXPECT_NE(read_model_text(config.dump()).problems.find(R"(missing field "hidden_size")"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
