// InternViT, in front of decoders: gains, norms of queries and keys, biases that are named.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/kept_tensors.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;

constexpr std::int64_t kQwenHalfABillion = 494'032'768;

nlohmann::json internvl(const nlohmann::json& tower) {
  nlohmann::json config = nlohmann::json::parse(R"({"model_type": "internvl",
      "downsample_ratio": 0.5, "text_config": {
      "model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
      "max_position_embeddings": 32768, "num_attention_heads": 14, "num_hidden_layers": 24,
      "num_key_value_heads": 2, "tie_word_embeddings": true, "use_sliding_window": false,
      "vocab_size": 151936}, "vision_config": {"model_type": "internvl_vision",
      "hidden_size": 1024, "image_size": [448, 448], "intermediate_size": 4096,
      "norm_type": "layer_norm", "num_attention_heads": 16, "num_hidden_layers": 24,
      "patch_size": [14, 14]}})");
  config["vision_config"].update(tower);
  return config;
}

void expect_read_back(const nlohmann::json& config, std::int64_t count) {
  const ModelReading reading = read_model_text(config.dump());
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  EXPECT_EQ(parameters(reading), count);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(parameters(again), count) << again.problems;
}

/// Sides of both directions; four patches stand side by side. 14 x 14 pixels of three colours, a
/// table of 1,025 rows, 24 layers of 12 h^2 + 13 h and two gains, a norm, 4 h x 896 and 896 x 896
/// with biases in front of Qwen2.5-0.5B. Biases of queries, keys and values, 3 h a layer, have to
/// be named.
TEST(InternVit, IsReadWithListsOfSides) {
  const std::int64_t h = 1024;
  const std::int64_t count = kQwenHalfABillion + 588 * h + 1025 * h +
                             24 * (12 * h * h + 13 * h + 2 * h) + 2 * h + (4 * h * 896 + 896) +
                             (896 * 896 + 896);
  expect_read_back(internvl({{"attention_bias", true}}), count);
  expect_read_back(internvl(nlohmann::json::object()), count - 24 * 3 * h);
}

/// OpenGVLab/InternViT-6B-448px-V2_5 has 5.54 B: 45 layers of 12 h^2, biases of the product behind
/// attention and of the MLP, 6 h, RMS norms in front of both halves and of queries and keys, gains.
TEST(InternVit, TheLargeOneNormsQueriesAndKeys) {
  const std::int64_t h = 3200;
  const std::int64_t tower = 588 * h + 1025 * h + 45 * (12 * h * h + 6 * h + 3 * 2 * h);
  EXPECT_EQ(tower, 5'536'489'600);
  expect_read_back(internvl({{"hidden_size", h},
                             {"intermediate_size", 4 * h},
                             {"num_attention_heads", 25},
                             {"num_hidden_layers", 45},
                             {"norm_type", "rms_norm"},
                             {"attention_bias", false},
                             {"use_qk_norm", true}}),
                   kQwenHalfABillion + tower + h + (4 * h * 896 + 896) + (896 * 896 + 896));
}

/// For each position half of four patches: of each two tensors more, of queries and keys and of
/// what halves give, are read and written, and kept.
TEST(InternVit, GainsAndNormsMoveAndKeepWhatTheyTake) {
  const auto layer_of = [](bool gains, bool norms) {
    TransformerModel model{.hidden = 32, .attention_heads = 2, .kv_heads = 2, .head_size = 16};
    model.vision = VisionTower{.layers = 3,
                               .hidden = 64,
                               .attention_heads = 4,
                               .ffn_hidden = 256,
                               .query_key_norms = norms,
                               .layer_scale = gains,
                               .patches = 100,
                               .patches_per_token = 4};
    return layers_of(model).layer(0);
  };
  const RankShape shape{.sequence_length = 400.0};
  const auto moved = [&](const Layer& layer) {
    double forward = 0.0;
    for (const PassWork& pass : work(layer, shape).passes) forward += pass.forward.count();
    return forward;
  };
  const Layer plain = layer_of(false, false);
  for (const Layer& layer : {layer_of(true, false), layer_of(false, true)}) {
    EXPECT_DOUBLE_EQ(moved(layer) - moved(plain), 400 * 2 * (2 * 4 * 64.0));
    EXPECT_DOUBLE_EQ((kept_bytes(layer, shape) - kept_bytes(plain, shape)).count(),
                     400 * 2 * (2 * 2 * 64.0));
    EXPECT_EQ(parameters_on_rank(layer, shape).total() - parameters_on_rank(plain, shape).total(),
              2 * 64.0);
  }
}

/// 33 x 33 patches do not make places of four, 34 x 34 do.
TEST(InternVit, AnImageOfPartsOfPlacesIsToldAtItsSize) {
  const std::string problems =
      read_model_text(internvl({{"image_size", 462}, {"patch_size", 14}}).dump()).problems;
  EXPECT_NE(problems.find("places among the words stand for patches each"), std::string::npos)
      << problems;
  EXPECT_NE(problems.find("/vision_config/image_size"), std::string::npos) << problems;
  EXPECT_NE(problems.find("1089 patches, 4 in a place"), std::string::npos) << problems;
  EXPECT_NE(problems.find("use an image_size of 476"), std::string::npos) << problems;
  EXPECT_NE(problems.find("error: "), std::string::npos);
  EXPECT_EQ(problems.find("error: ", problems.find("error: ") + 1), std::string::npos) << problems;
  // What somebody says beside it counts instead.
  const nlohmann::json beside = {
      {"model",
       {{"huggingface", internvl({{"image_size", 462}, {"patch_size", 14}})},
        {"images", {{"share", 0.5}, {"patches", 1024}}}}}};
  EXPECT_EQ(testing::read_scenario_model(beside.dump()).problems, "");
}

/// Images of any size have 1,024 patches, which 9 do not divide, nor windows of 49.
TEST(InternVit, ImagesOfAnySizeAreToldWhatPatchesTheyMayHave) {
  const auto told = [](const char* field, int value) {
    nlohmann::json config = nlohmann::json::parse(R"({"model_type": "qwen2_5_vl",
        "hidden_size": 3584, "intermediate_size": 18944, "max_position_embeddings": 32768,
        "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
        "tie_word_embeddings": false, "vocab_size": 152064, "vision_config":
        {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16,
         "patch_size": 14, "spatial_merge_size": 2, "window_size": 112,
         "fullatt_block_indexes": [7, 15, 23, 31], "temporal_patch_size": 2}})");
    config["vision_config"][field] = value;
    return read_model_text(config.dump()).problems;
  };
  const std::string merged = told("spatial_merge_size", 3);
  EXPECT_NE(merged.find("/vision_config/spatial_merge_size"), std::string::npos) << merged;
  EXPECT_NE(merged.find(R"(give "images": {"patches": 1026})"), std::string::npos) << merged;
  const std::string windows = told("window_size", 98);
  EXPECT_NE(windows.find("/vision_config/window_size"), std::string::npos) << windows;
  EXPECT_NE(windows.find("1024 patches, 49 in a window"), std::string::npos) << windows;
}

}  // namespace
}  // namespace headway
