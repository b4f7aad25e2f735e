// Configurations of linear attention and of short filters. The texts are written from
// published sizes (as the library's sources say) with the fields that the transformers library
// gives them, and are no copies of files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_as_in_library;
using testing::ModelReading;
using testing::read_model_text;

/// The layers of Qwen3-Next without experts; 8.95 B by hand: three of four layers a delta net of
/// 16 and 32 heads of 128, one gated attention of 16 heads of 256.
TEST(HuggingFaceLinear, Qwen35IsDenseBehindDeltaNets) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "qwen3_5", "tie_word_embeddings": false, "text_config": {
          "model_type": "qwen3_5_text", "hidden_size": 4096, "intermediate_size": 12288,
          "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
          "linear_num_value_heads": 32, "linear_value_head_dim": 128,
          "max_position_embeddings": 262144, "num_attention_heads": 16, "num_hidden_layers": 32,
          "num_key_value_heads": 4, "vocab_size": 248320}})");
  EXPECT_EQ(reading.problems, "");
  const double mlp = 3.0 * 4096 * 12288;
  const double gated = 4096.0 * 256 * (2 * 16 + 2 * 4 + 16);
  const double net = 4096.0 * (2 * 2048 + 3 * 4096 + 2 * 32) + 4.0 * (2 * 2048 + 4096);
  EXPECT_NEAR(static_cast<double>(testing::parameters(reading)),
              2.0 * 248'320 * 4096 + 32 * mlp + 8 * gated + 24 * net, 1e6);
}

/// Its configurations have no "intermediate_size": 35 B parameters by name, with what sees.
TEST(HuggingFaceLinear, Qwen35WithExpertsHasNoOtherMlp) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "qwen3_5_moe", "text_config": {"model_type": "qwen3_5_moe_text",
          "full_attention_interval": 4, "head_dim": 256, "hidden_size": 2048,
          "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
          "linear_num_value_heads": 32, "linear_value_head_dim": 128,
          "max_position_embeddings": 262144, "moe_intermediate_size": 512,
          "shared_expert_intermediate_size": 512, "num_experts": 256, "num_experts_per_tok": 8,
          "num_attention_heads": 16, "num_hidden_layers": 40, "num_key_value_heads": 2,
          "vocab_size": 248320}})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_NEAR(static_cast<double>(testing::parameters(reading)), 35e9, 0.5e9);
}

TEST(HuggingFaceLinear, Qwen3NextHasThreeDeltaNetsToALayerOfGatedAttention) {
  expect_as_in_library(
      R"({"model_type": "qwen3_next", "attention_bias": false, "decoder_sparse_step": 1,
          "full_attention_interval": 4, "head_dim": 256, "hidden_size": 2048,
          "intermediate_size": 5632, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
          "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
          "max_position_embeddings": 262144, "mlp_only_layers": [], "moe_intermediate_size": 512,
          "num_attention_heads": 16, "num_experts": 512, "num_experts_per_tok": 10,
          "num_hidden_layers": 48, "num_key_value_heads": 2, "partial_rotary_factor": 0.25,
          "shared_expert_intermediate_size": 512, "tie_word_embeddings": false,
          "vocab_size": 151936})",
      "qwen3_next_80b");
}

/// 456 B (MiniMax-01, 2025, arXiv:2501.08313): 80 layers of 32 experts, of which every eighth has
/// attention of 64 heads, 8 of keys and values; the others as many heads and a gate, and a norm.
TEST(HuggingFaceLinear, MiniMaxHasLightningAttentionInSevenOfEightLayers) {
  nlohmann::json config = {{"model_type", "minimax_text_01"},
                           {"hidden_size", 6144},
                           {"intermediate_size", 9216},
                           {"num_hidden_layers", 80},
                           {"num_attention_heads", 64},
                           {"num_key_value_heads", 8},
                           {"head_dim", 128},
                           {"num_local_experts", 32},
                           {"num_experts_per_tok", 2},
                           {"shared_intermediate_size", 0},
                           {"rotary_dim", 64},
                           {"max_position_embeddings", 10'240'000},
                           {"vocab_size", 200'064}};
  for (int layer = 0; layer < 80; ++layer) {
    config["attn_type_list"].push_back(layer % 8 == 7 ? 1 : 0);
  }
  const ModelReading published = read_model_text(config.dump());
  EXPECT_EQ(published.problems, "");
  ASSERT_TRUE(published.read.has_value());
  EXPECT_EQ(published.read->transformer->layer_pattern.substr(0, 16), "MEMEMEMEMEMEME*E");
  const double h = 6144.0;
  const double inner = 8192.0;
  const double expected = 80.0 * (32.0 * 3.0 * h * 9216.0 + 32.0 * h + 2.0 * h) +
                          10.0 * h * (2.0 * inner + 2.0 * 1024.0) +
                          70.0 * (5.0 * h * inner + inner) + 2.0 * 200'064.0 * h + h;
  EXPECT_EQ(expected, 456'089'655'296.0);
  EXPECT_NEAR(static_cast<double>(testing::parameters(published)), expected, 1e-4 * expected);

  // As the transformers library writes it.
  nlohmann::json native = config;
  native["model_type"] = "minimax";
  native.erase("attn_type_list");
  for (int layer = 0; layer < 80; ++layer) {
    native["layer_types"].push_back(layer % 8 == 7 ? "full_attention" : "linear_attention");
  }
  const ModelReading same = read_model_text(native.dump());
  EXPECT_EQ(same.problems, "");
  EXPECT_EQ(same.read->transformer->layer_pattern, published.read->transformer->layer_pattern);
  native.erase("layer_types");
  EXPECT_EQ(read_model_text(native.dump()).read->transformer->layer_pattern.substr(0, 8),
            "*EME*EME");
  native["layer_types"] = {"linear_attention"};
  EXPECT_NE(read_model_text(native.dump())
                .problems.find(R"(write "linear_attention" or "full_attention" for each)"),
            std::string::npos);
  config["attn_type_list"].erase(0);
  EXPECT_NE(read_model_text(config.dump()).problems.find("79 for 80 layers"), std::string::npos);
}

/// 1.17 B (the card of LiquidAI/LFM2-1.2B): by hand ten filters of 3 between two products, six of
/// attention of 32 heads of 64 with 8 of keys and values, norms of whose heads are left out, and
/// MLPs of two thirds of 12,288.
TEST(HuggingFaceLinear, Lfm2HasShortConvolutionsInMostLayers) {
  nlohmann::json config = {{"model_type", "lfm2"},
                           {"hidden_size", 2048},
                           {"block_dim", 2048},
                           {"block_ff_dim", 12288},
                           {"block_auto_adjust_ff_dim", true},
                           {"block_ffn_dim_multiplier", 1.0},
                           {"block_multiple_of", 256},
                           {"conv_L_cache", 3},
                           {"conv_bias", false},
                           {"conv_dim", 2048},
                           {"conv_dim_out", 2048},
                           {"num_heads", 32},
                           {"num_hidden_layers", 16},
                           {"num_attention_heads", 32},
                           {"num_key_value_heads", 8},
                           {"full_attn_idxs", {2, 5, 8, 10, 12, 14}},
                           {"max_position_embeddings", 128'000},
                           {"tie_embedding", true},
                           {"vocab_size", 65'536}};
  const ModelReading published = read_model_text(config.dump());
  EXPECT_EQ(published.problems, "");
  ASSERT_TRUE(published.read.has_value());
  EXPECT_EQ(published.read->transformer->layer_pattern, "C-C-*-C-C-*-C-C-*-C-*-C-*-C-*-C-");
  EXPECT_EQ(published.read->transformer->ffn_hidden, 8192);
  const std::int64_t h = 2048;
  const std::int64_t behind = 3 * h * 8192 + 2 * h;  // an MLP, and the norms of both halves
  const std::int64_t expected = 10 * (4 * h * h + 3 * h + behind) +
                                6 * (2 * h * h + 2 * h * 512 + 2 * 64 + behind) + 65'536 * h + h;
  EXPECT_EQ(expected, 1'170'340'608);
  EXPECT_EQ(testing::parameters(published), expected);

  // As the transformers library writes it.
  config.erase("full_attn_idxs");
  for (const char letter : std::string("CC*CC*CC*C*C*C*C")) {
    config["layer_types"].push_back(letter == 'C' ? "conv" : "full_attention");
  }
  const ModelReading native = read_model_text(config.dump());
  EXPECT_EQ(native.problems, "");
  EXPECT_EQ(native.read->transformer->layer_pattern, published.read->transformer->layer_pattern);
  // 1.5 times two thirds of 10,000 is 9,999, and that up to a multiple of 256; or as it is.
  config["block_ff_dim"] = 10'000;
  config["block_ffn_dim_multiplier"] = 1.5;
  EXPECT_EQ(read_model_text(config.dump()).read->transformer->ffn_hidden, 10'240);
  config["block_auto_adjust_ff_dim"] = false;
  EXPECT_EQ(read_model_text(config.dump()).read->transformer->ffn_hidden, 10'000);
  config["conv_dim"] = 1024;
  EXPECT_NE(read_model_text(config.dump()).problems.find("1024 instead of 2048"),
            std::string::npos);
  config["conv_dim"] = 2048;
  config["layer_types"][3] = "mamba";
  EXPECT_NE(read_model_text(config.dump()).problems.find(R"(write "conv" or "full_attention")"),
            std::string::npos);
}

/// 8.3 B, of which 1.5 work on a token (the card of LiquidAI/LFM2-8B-A1B).
TEST(HuggingFaceLinear, Lfm2MayHaveExpertsBehindTheFirstLayers) {
  nlohmann::json config = {{"model_type", "lfm2_moe"},
                           {"hidden_size", 2048},
                           {"intermediate_size", 7168},
                           {"moe_intermediate_size", 1792},
                           {"num_dense_layers", 2},
                           {"num_experts", 32},
                           {"num_experts_per_tok", 4},
                           {"num_hidden_layers", 24},
                           {"num_attention_heads", 32},
                           {"num_key_value_heads", 8},
                           {"max_position_embeddings", 128'000},
                           {"tie_word_embeddings", true},
                           {"vocab_size", 65'536}};
  for (const char letter : std::string("CC*CCC*CCC*CCC*CCC*CC*CC")) {
    config["layer_types"].push_back(letter == 'C' ? "conv" : "full_attention");
  }
  const ModelReading reading = read_model_text(config.dump());
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  expect_as_in_library(config.dump(), "lfm2_8b_a1b");
  config["num_dense_layers"] = 24;
  EXPECT_NE(read_model_text(config.dump()).problems.find("24 of 24 layers have none"),
            std::string::npos);
  EXPECT_NEAR(static_cast<double>(testing::parameters(reading)), 8.34e9, 0.005e9);
}

/// 48 B (the card of moonshotai/Kimi-Linear-48B-A3B-Instruct).
nlohmann::json kimi_linear() {
  return {{"model_type", "kimi_linear"},
          {"hidden_size", 2304},
          {"intermediate_size", 9216},
          {"num_hidden_layers", 27},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 32},
          {"head_dim", 72},
          {"kv_lora_rank", 512},
          {"q_lora_rank", nullptr},
          {"qk_nope_head_dim", 128},
          {"qk_rope_head_dim", 64},
          {"v_head_dim", 128},
          {"model_max_length", 1'048'576},
          {"num_experts", 256},
          {"num_experts_per_token", 8},
          {"num_expert_group", 1},
          {"num_shared_experts", 1},
          {"moe_intermediate_size", 1024},
          {"moe_layer_freq", 1},
          {"first_k_dense_replace", 1},
          {"num_nextn_predict_layers", 0},
          {"vocab_size", 163'840},
          {"linear_attn_config",
           {{"head_dim", 128},
            {"num_heads", 32},
            {"short_conv_kernel_size", 4},
            {"full_attn_layers", {4, 8, 12, 16, 20, 24, 27}},
            {"kda_layers",
             {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26}}}}};
}

TEST(HuggingFaceLinear, KimiLinearHasThreeDeltaNetsToALayerOfLatentAttention) {
  const ModelReading reading = read_model_text(kimi_linear().dump());
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const std::string& pattern = reading.read->transformer->layer_pattern;
  EXPECT_EQ(pattern.substr(0, 16), "D-DEDE*EDEDEDE*E");
  EXPECT_EQ(pattern.substr(46), "*EDEDE*E");
  expect_as_in_library(kimi_linear().dump(), "kimi_linear_48b");
  // A delta net of 32 heads of 128: queries, keys, values and the way out; filters of 4; a decay
  // for each channel of the keys and a gate for each of the values through 128 each; what is
  // written of each head; a decay of each head and a bias of each channel; a norm of 128.
  const double h = 2304.0;
  const double inner = 32.0 * 128.0;
  const double net = 4.0 * h * inner + 4.0 * 3.0 * inner + 2.0 * 128.0 * (h + inner) + 32.0 * h +
                     32.0 + inner + 128.0;
  const double latent =
      h * 32.0 * 192.0 + h * (512.0 + 64.0) + 512.0 + 512.0 * 32.0 * (128.0 + 128.0) + inner * h;
  const double experts = (256.0 + 1.0) * 3.0 * h * 1024.0 + 256.0 * h;
  EXPECT_EQ(static_cast<double>(testing::parameters(reading)),
            20.0 * net + 7.0 * latent + 26.0 * experts + 3.0 * h * 9216.0 + 27.0 * 2.0 * h +
                2.0 * 163'840.0 * h + h);
}

TEST(HuggingFaceLinear, KimiLinearNamesEveryLayer) {
  nlohmann::json config = kimi_linear();
  config["linear_attn_config"]["kda_layers"].erase(3);
  EXPECT_NE(read_model_text(config.dump()).problems.find("layer 5 of 27 is in none"),
            std::string::npos);
  config["linear_attn_config"]["kda_layers"].push_back(28);
  EXPECT_NE(read_model_text(config.dump()).problems.find("28"), std::string::npos);
  config["linear_attn_config"]["kda_layers"] = {1, 4};
  EXPECT_NE(read_model_text(config.dump()).problems.find("layer 4 is again"), std::string::npos);
  config.erase("linear_attn_config");
  EXPECT_NE(read_model_text(config.dump()).problems.find("linear_attn_config"), std::string::npos);
  config = kimi_linear();
  config["moe_layer_freq"] = 2;
  EXPECT_NE(read_model_text(config.dump()).problems.find("at an interval"), std::string::npos);
}

}  // namespace
}  // namespace headway
