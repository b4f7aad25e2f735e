#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/kept_tensors.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

/// As many layers in both halves, of h channels, 4 h of the MLP and heads of 64.
nlohmann::json translator(const std::string& type, int layers, int h, int vocabulary) {
  return {{"model_type", type},
          {"d_model", h},
          {"encoder_layers", layers},
          {"num_hidden_layers", layers},
          {"decoder_layers", layers},
          {"encoder_attention_heads", h / 64},
          {"decoder_attention_heads", h / 64},
          {"encoder_ffn_dim", 4 * h},
          {"decoder_ffn_dim", 4 * h},
          {"max_position_embeddings", 1024},
          {"vocab_size", vocabulary},
          {"num_beams", 4},
          {"is_encoder_decoder", true}};
}

/// By hand a table of words and two of 1,026 positions; layers of 12 h^2 + 13 h, of the decoder
/// 16 h^2 + 19 h; a norm behind the words of each half.
TEST(HuggingFaceTranslators, BartHasItsPublishedParameters) {
  const std::int64_t h = 768;
  EXPECT_EQ(
      50'265 * h + 2 * 1026 * h + 6 * (12 * h * h + 13 * h) + 6 * (16 * h * h + 19 * h) + 2 * 2 * h,
      139'420'416);
  expect_parameters(translator("bart", 6, 768, 50'265).dump(), 139'420'416);
  expect_parameters(translator("bart", 12, 1024, 50'265).dump(), 406'291'456);
  // mBART-50, which has a norm behind each half as well.
  expect_parameters(translator("mbart", 12, 1024, 250'054).dump(), 610'879'488 - 2 * 2 * 1024);
}

/// Positions of neither are trained: 568 M (Zhang et al. 2019, arXiv:1912.08777, section 6), and
/// NLLB's smallest, of 600 M.
TEST(HuggingFaceTranslators, SinusoidsHaveNoParameters) {
  expect_parameters(translator("pegasus", 16, 1024, 96'103).dump(), 568'699'904);
  expect_parameters(translator("m2m_100", 12, 1024, 256'206).dump(), 615'073'792);
}

/// As the library has them where a configuration says nothing: a GELU in BART, a ReLU in M2M-100,
/// dropout in both; positions added to words leave scores as they are.
TEST(HuggingFaceTranslators, DefaultsAreThoseOfTheLibrary) {
  const auto resolved = [](const nlohmann::json& config) {
    const ModelReading reading = read_model_text(config.dump());
    EXPECT_EQ(reading.problems, "");
    return *reading.read->resolved;
  };
  nlohmann::json config = translator("bart", 6, 768, 50'265);
  EXPECT_EQ(resolved(config).at("activation"), "gelu");
  EXPECT_EQ(resolved(config).at("dropout"), true);
  EXPECT_EQ(resolved(config).at("positions"), 1026);
  EXPECT_EQ(resolved(config).at("target_length"), 1024);
  config["activation_function"] = "gelu_new";
  config["dropout"] = 0.0;
  EXPECT_EQ(resolved(config).at("activation"), "gelu_new");
  EXPECT_EQ(resolved(config).at("dropout"), false);
  config["attention_dropout"] = 0.1;
  EXPECT_EQ(resolved(config).at("dropout"), true);
  EXPECT_EQ(resolved(translator("m2m_100", 12, 1024, 256'206)).at("activation"), "relu");
  config.erase("max_position_embeddings");
  EXPECT_EQ(resolved(config).at("sequence_length"), 1024);

  const ModelReading bart = read_model_text(translator("bart", 6, 768, 50'265).dump());
  EXPECT_FALSE(bart.read->model.biases_scores);
  EXPECT_EQ(bart.read->model.most_positions, 1026);
  EXPECT_TRUE(bart.read->model.layer(0).attention->dropout);
  // A byte a channel of the words of both halves.
  ASSERT_EQ(bart.read->model.first.kept.size(), 1U);
  EXPECT_DOUBLE_EQ(bart.read->model.first.kept[0].elements, 2 * 768.0);
  const ModelReading pegasus = read_model_text(translator("pegasus", 16, 1024, 96'103).dump());
  EXPECT_FALSE(pegasus.read->model.most_positions.has_value());
  EXPECT_TRUE(pegasus.read->model.layer(0).attention->dropout);
}

TEST(HuggingFaceTranslators, WhatIsMissingOrOtherwiseIsTold) {
  nlohmann::json config = translator("bart", 6, 768, 50'265);
  config["decoder_ffn_dim"] = 2048;
  EXPECT_NE(read_model_text(config.dump()).problems.find("2048, where the encoder has 3072"),
            std::string::npos);
  config = translator("bart", 6, 768, 50'265);
  config["attention_dropout"] = 2;  // told though words are dropped out anyway
  EXPECT_NE(read_model_text(config.dump()).problems.find("/attention_dropout"), std::string::npos);
  config = translator("pegasus", 6, 768, 50'265);
  config.erase("d_model");
  EXPECT_NE(read_model_text(config.dump()).problems.find(R"(missing field "d_model")"),
            std::string::npos);
  config = translator("mbart", 6, 768, 50'265);
  config["encoder_attention_heads"] = config["decoder_attention_heads"] = 7;
  EXPECT_TRUE(read_model_text(config.dump()).has_errors);
  // Of a model in fields of ours: a table of positions where distances are told apart.
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1", "family": "t5", "layers": 6,
 "hidden": 768, "attention_heads": 12, "ffn_hidden": 3072, "vocabulary": 50265, "positions": 512})")
                .problems,
            R"(error: a model either adds positions or tells distances
  --> model.json:2:94   /positions
   |
 2 |  "hidden": 768, "attention_heads": 12, "ffn_hidden": 3072, "vocabulary": 50265, "positions": 512}
   |                                                                                              ^^^ positions needs position_buckets 0
  help: leave it out
)");
}

}  // namespace
}  // namespace headway
