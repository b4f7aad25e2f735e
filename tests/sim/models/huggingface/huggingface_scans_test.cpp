// Configurations of selective scans. The texts are written from published sizes (as the library's
// sources say) with the fields that the transformers library gives them, and are no copies of
// files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_as_in_library;
using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

nlohmann::json mamba() {
  return {{"model_type", "mamba"},    {"conv_kernel", 4},          {"expand", 2},
          {"hidden_size", 2560},      {"intermediate_size", 5120}, {"num_hidden_layers", 64},
          {"residual_in_fp32", true}, {"state_size", 16},          {"time_step_rank", 160},
          {"use_bias", false},        {"use_conv_bias", true},     {"vocab_size", 50'280}};
}

std::string problems_of(const nlohmann::json& config) {
  return read_model_text(config.dump()).problems;
}

TEST(HuggingFaceScans, MambaHasThePublishedParameters) {
  expect_as_in_library(mamba().dump(), "mamba_2.8b");
  expect_parameters(mamba().dump(), 2'768'345'600);
  EXPECT_EQ(read_model_text(mamba().dump()).read->transformer->sequence_length, 2048);
}

TEST(HuggingFaceScans, WhatMambaLeavesOutIsTheLibrarys) {
  nlohmann::json config = mamba();
  for (const char* left_out : {"conv_kernel", "expand", "intermediate_size", "state_size",
                               "time_step_rank", "use_bias", "use_conv_bias"}) {
    config.erase(left_out);
  }
  expect_as_in_library(config.dump(), "mamba_2.8b");
  config["time_step_rank"] = "auto";
  expect_as_in_library(config.dump(), "mamba_2.8b");
  config["hidden_size"] = 2561;  // 160.06 is 161 whole
  config["expand"] = 3;
  const ModelReading reading = read_model_text(config.dump());
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  EXPECT_EQ(reading.read->transformer->selective_scan->step_rank, 161);
  EXPECT_EQ(reading.read->transformer->selective_scan->channels, 3 * 2561);
}

TEST(HuggingFaceScans, MambaMayHaveBiasesAndAHeadOfItsOwn) {
  nlohmann::json config = mamba();
  config["use_bias"] = true;
  config["use_conv_bias"] = false;
  config["tie_word_embeddings"] = false;
  // 64 times 10,240 inward and 2,560 outward more, 5,120 filters less; 50,280 x 2,560.
  expect_parameters(config.dump(),
                    2'768'345'600 + 64 * (10'240 + 2'560 - 5'120) + 50'280LL * 2'560);
}

TEST(HuggingFaceScans, FalconMambaIsPublishedWithAFactorThatIsNone) {
  const nlohmann::json config = {{"model_type", "falcon_mamba"},
                                 {"conv_kernel", 4},
                                 {"expand", 16},
                                 {"hidden_size", 4096},
                                 {"intermediate_size", 8192},
                                 {"num_hidden_layers", 64},
                                 {"state_size", 16},
                                 {"tie_word_embeddings", false},
                                 {"time_step_rank", 256},
                                 {"use_bias", false},
                                 {"use_conv_bias", true},
                                 {"vocab_size", 65'024}};
  expect_as_in_library(config.dump(), "falcon_mamba_7b");
  expect_parameters(config.dump(), 7'272'665'088);
  EXPECT_EQ(read_model_text(config.dump()).read->transformer->sequence_length, 8192);
}

nlohmann::json jamba() {
  return {{"model_type", "jamba"},       {"attn_layer_offset", 4},
          {"attn_layer_period", 8},      {"expert_layer_offset", 1},
          {"expert_layer_period", 2},    {"hidden_size", 4096},
          {"intermediate_size", 14'336}, {"mamba_conv_bias", true},
          {"mamba_d_conv", 4},           {"mamba_d_state", 16},
          {"mamba_dt_rank", 256},        {"mamba_expand", 2},
          {"mamba_proj_bias", false},    {"max_position_embeddings", 262'144},
          {"num_attention_heads", 32},   {"num_experts", 16},
          {"num_experts_per_tok", 2},    {"num_hidden_layers", 32},
          {"num_key_value_heads", 8},    {"num_logits_to_keep", 1},
          {"sliding_window", nullptr},   {"tie_word_embeddings", false},
          {"vocab_size", 65'536}};
}

TEST(HuggingFaceScans, JambaHasAttentionAndExpertsInPeriods) {
  expect_as_in_library(jamba().dump(), "jamba_52b");
  expect_parameters(jamba().dump(), 51'570'323'328);
  EXPECT_EQ(read_model_text(jamba().dump()).read->transformer->layer_pattern.substr(0, 16),
            "S-SES-SE*-SES-SE");
  nlohmann::json config = jamba();
  for (const char* left_out :
       {"attn_layer_offset", "attn_layer_period", "expert_layer_offset", "expert_layer_period",
        "mamba_conv_bias", "mamba_d_conv", "mamba_d_state", "mamba_dt_rank", "mamba_expand",
        "mamba_proj_bias", "max_position_embeddings", "num_experts", "num_experts_per_tok",
        "num_key_value_heads", "tie_word_embeddings"}) {
    config.erase(left_out);
  }
  expect_as_in_library(config.dump(), "jamba_52b");
}

/// AI21-Jamba-Reasoning-3B has one expert, which is an MLP: 26 scans of 5,120 channels and two of
/// attention of 20 heads, of which one has keys.
TEST(HuggingFaceScans, JambaMayHaveNoExperts) {
  nlohmann::json config = jamba();
  config.update({{"attn_layer_offset", 7},
                 {"attn_layer_period", 14},
                 {"hidden_size", 2560},
                 {"intermediate_size", 8192},
                 {"mamba_dt_rank", 160},
                 {"num_attention_heads", 20},
                 {"num_experts", 1},
                 {"num_experts_per_tok", 1},
                 {"num_hidden_layers", 28},
                 {"num_key_value_heads", 1},
                 {"tie_word_embeddings", true}});
  const std::int64_t h = 2560;
  const std::int64_t inner = 5120;
  const std::int64_t scan =
      h * 3 * inner + inner * (160 + 32) + 160 * inner + inner * (5 + 16 + 2) + 192;
  expect_parameters(config.dump(), 26 * scan + 2 * h * 128 * (2 * 20 + 2) + 28 * 3 * h * 8192 +
                                       57 * h + 65'536 * h);
  config["mamba_inner_layernorms"] = false;  // 160 + 16 + 16 gains less
  expect_parameters(config.dump(), 26 * (scan - 192) + 2 * h * 128 * (2 * 20 + 2) +
                                       28 * 3 * h * 8192 + 57 * h + 65'536 * h);
}

TEST(HuggingFaceScans, JambaMayHaveAttentionAlone) {
  nlohmann::json config = jamba();
  config["attn_layer_period"] = 1;
  config["attn_layer_offset"] = 0;
  const ModelReading reading = read_model_text(config.dump());
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layer_pattern.substr(0, 4), "*-*E");
  EXPECT_FALSE(reading.read->transformer->selective_scan.has_value());
}

TEST(HuggingFaceScans, PeriodsThatAreNoneAreTold) {
  nlohmann::json config = jamba();
  config["attn_layer_period"] = 0;
  EXPECT_NE(problems_of(config).find("/attn_layer_period"), std::string::npos);
  config["attn_layer_period"] = 4;
  EXPECT_NE(problems_of(config).find("4 of 4"), std::string::npos);
  EXPECT_NE(problems_of(config).find("/attn_layer_offset"), std::string::npos);
  EXPECT_NE(problems_of(config).find("a number from 0 to 3"), std::string::npos);
  config.erase("attn_layer_offset");  // 4 where it is not there
  EXPECT_NE(problems_of(config).find("/attn_layer_period"), std::string::npos);
  config = jamba();
  config["expert_layer_offset"] = -1;
  EXPECT_NE(problems_of(config).find("/expert_layer_offset"), std::string::npos);
  config["expert_layer_offset"] = 2;
  EXPECT_NE(problems_of(config).find("2 of 2"), std::string::npos);
}

TEST(HuggingFaceScans, AListOfMixersSaysTheSame) {
  nlohmann::json config = jamba();
  for (int layer = 0; layer < 32; ++layer) {
    config["layers_block_type"].push_back(layer % 8 == 4 ? "attention" : "mamba");
  }
  expect_as_in_library(config.dump(), "jamba_52b");
  config["layers_block_type"].erase(31);
  EXPECT_NE(problems_of(config).find("the list says otherwise"), std::string::npos);
}

TEST(HuggingFaceScans, WrongFieldsAreToldWhereTheyAre) {
  nlohmann::json config = mamba();
  config["time_step_rank"] = "fast";
  EXPECT_NE(problems_of(config).find("/time_step_rank"), std::string::npos);
  config = mamba();
  config["state_size"] = 0;
  EXPECT_NE(problems_of(config).find("/state_size"), std::string::npos);
  config = mamba();
  config.erase("hidden_size");
  EXPECT_NE(problems_of(config).find("hidden_size"), std::string::npos);
  config = mamba();
  config["num_local_experts"] = 8;
  EXPECT_NE(problems_of(config).find("a mixture of experts is not supported"), std::string::npos);
  config = jamba();
  config["num_experts_per_tok"] = 17;
  EXPECT_NE(problems_of(config).find("17 of 16"), std::string::npos);
  config = jamba();
  config.erase("intermediate_size");
  EXPECT_NE(problems_of(config).find("intermediate_size"), std::string::npos);
}

}  // namespace
}  // namespace headway
