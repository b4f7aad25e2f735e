// Configurations of layers with a state and of sparse attention. The texts are written from
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

/// The configuration of 8 billion parameters, with layers of one's own.
std::string nemotron(const std::string& count, const std::string& layers) {
  return R"({"model_type": "nemotron_h", "attention_bias": false, "chunk_size": 128,
    "conv_kernel": 4, "expand": 2, "head_dim": 128, "hidden_size": 4096,
    "intermediate_size": 21504, "mamba_head_dim": 64, "mamba_num_heads": 128,
    "max_position_embeddings": 8192, "mlp_bias": false, "mlp_hidden_act": "relu2", "n_groups": 8,
    "num_attention_heads": 32, "num_key_value_heads": 8, "num_logits_to_keep": 1,
    "ssm_state_size": 128, "tie_word_embeddings": false, "use_conv_bias": true,
    "vocab_size": 131072, "num_hidden_layers": )" +
         count + ", " + layers + "}";
}

TEST(HuggingFaceHybrid, NemotronHIsAPatternOfHalfLayers) {
  expect_as_in_library(
      nemotron(
          "52",
          R"("hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-")"),
      "nemotron_h_8b");
}

TEST(HuggingFaceHybrid, NemotronHMayHaveExperts) {
  expect_as_in_library(
      R"({"model_type": "nemotron_h", "chunk_size": 128, "conv_kernel": 4, "head_dim": 128,
          "hidden_size": 2688, "intermediate_size": 1856,
          "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
          "mamba_head_dim": 64, "mamba_num_heads": 64, "max_position_embeddings": 262144,
          "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
          "n_group": 1, "n_groups": 8, "n_routed_experts": 128, "n_shared_experts": 1,
          "num_attention_heads": 32, "num_experts_per_tok": 6, "num_hidden_layers": 52,
          "num_key_value_heads": 2, "ssm_state_size": 128, "vocab_size": 131072})",
      "nemotron3_nano_30b");
}

TEST(HuggingFaceHybrid, LayersMayBeListedInstead) {
  const ModelReading reading = read_model_text(nemotron(
      "4", R"("layers_block_type": ["mamba", "mlp", "full_attention", "linear_attention"])"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layer_pattern, "M-*M");
}

TEST(HuggingFaceHybrid, APatternThatIsNoneIsReported) {
  const auto problems = [](const std::string& count, const std::string& layers) {
    const ModelReading reading = read_model_text(nemotron(count, layers));
    EXPECT_TRUE(reading.has_errors);
    EXPECT_FALSE(reading.read.has_value());
    return reading.problems;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(problems("3", R"("hybrid_override_pattern": "M-")"), "2 for 3");
  has(problems("3", R"("hybrid_override_pattern": "M-X")"), "'X' is no layer");
  has(problems("2", R"("layers_block_type": ["mamba", "gru"])"), "'?' is no layer");
  has(problems("2", R"("bos_token_id": 1)"), "the pattern of the layers is missing");
}

/// Granite 4, of which the list names the mixers alone.
std::string granite(const std::string& sizes) {
  return R"({"model_type": "granitemoehybrid", "mamba_d_state": 128, "mamba_d_head": 64,
    "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 256,
    "num_hidden_layers": 4, "layer_types": ["mamba", "mamba", "attention", "mamba"],
    "vocab_size": 100352, "max_position_embeddings": 131072, "tie_word_embeddings": true,
    "position_embedding_type": "nope", )" +
         sizes + "}";
}

TEST(HuggingFaceHybrid, Granite4HasAnMlpBehindEveryMixer) {
  const ModelReading reading = read_model_text(
      granite(R"("hidden_size": 2048, "intermediate_size": 8192, "mamba_n_heads": 64,
               "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 0,
               "num_experts_per_tok": 0, "shared_intermediate_size": 8192)"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layer_pattern, "M-M-*-M-");
  // By hand: an MLP of three matrices; attention of 32 heads and 8 of keys and values of 64; a
  // state space of 64 heads of 64: in 2 x 4096 + 2 x 128 + 64, a convolution of 4 and a bias over
  // 4096 + 256, out 4096, three numbers a head and a norm; a norm before each half, one behind all.
  const std::int64_t mlp = 3 * 2048 * 8192;
  const std::int64_t attention = 2048 * 64 * (32 + 2 * 8 + 32);
  const std::int64_t mixer =
      2048 * (2 * 4096 + 256 + 64) + 5 * (4096 + 256) + 4096 * 2048 + 3 * 64 + 4096;
  EXPECT_EQ(testing::parameters(reading),
            100'352 * 2048 + 4 * mlp + attention + 3 * mixer + 9 * 2048);
}

/// Without a list every mixer is a state space; the size of its heads may follow from the others.
TEST(HuggingFaceHybrid, Granite4MayLeaveOutItsList) {
  const auto read = [](const std::string& heads) {
    return read_model_text(R"({"model_type": "granitemoehybrid", "hidden_size": 2048,
        "intermediate_size": 8192, "shared_intermediate_size": 8192, "num_local_experts": 0,
        "num_hidden_layers": 2, "num_attention_heads": 32, "vocab_size": 100352,
        "max_position_embeddings": 8192, "mamba_d_state": 128, "mamba_d_head": "auto",
        "mamba_n_heads": )" +
                           heads + "}");
  };
  const ModelReading reading = read("64");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layer_pattern, "M-M-");
  EXPECT_EQ(reading.read->transformer->state_space->head_size, 2 * 2048 / 64);
  EXPECT_NE(read("63").problems.find("63 does not divide 4096"), std::string::npos);
}

TEST(HuggingFaceHybrid, Granite4NamesAMixerForEachLayer) {
  const auto problems = [](const std::string& list) {
    return read_model_text(R"({"model_type": "granitemoehybrid", "hidden_size": 2048,
        "intermediate_size": 8192, "shared_intermediate_size": 8192, "num_local_experts": 0,
        "num_hidden_layers": 2, "num_attention_heads": 32, "vocab_size": 100352,
        "max_position_embeddings": 8192, "mamba_d_state": 128, "mamba_d_head": 64,
        "mamba_n_heads": 64, "layer_types": )" +
                           list + "}")
        .problems;
  };
  EXPECT_NE(problems(R"(["mamba"])").find("1 for 2 layers"), std::string::npos);
  EXPECT_NE(problems(R"(["mamba", "moe"])").find("one of them is no mixer"), std::string::npos);
}

TEST(HuggingFaceHybrid, Granite4MayHaveExpertsAndASharedOne) {
  const ModelReading reading =
      read_model_text(granite(R"("hidden_size": 1536, "intermediate_size": 512, "mamba_n_heads": 48,
               "num_attention_heads": 12, "num_key_value_heads": 4, "num_local_experts": 64,
               "num_experts_per_tok": 6, "shared_intermediate_size": 1024)"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layer_pattern, "MEME*EME");
  const auto& mixture = reading.read->transformer->mixture_of_experts;
  ASSERT_TRUE(mixture.has_value());
  EXPECT_EQ(mixture->experts, 64);
  EXPECT_EQ(mixture->experts_per_token, 6);
  EXPECT_EQ(mixture->expert_hidden, 512);
  EXPECT_EQ(mixture->shared_expert_hidden, 1024);
}

TEST(HuggingFaceHybrid, DeepSeekMayHaveAnIndexer) {
  expect_as_in_library(
      R"({"model_type": "deepseek_v32", "first_k_dense_replace": 3, "hidden_size": 7168,
          "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048,
          "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840,
          "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256,
          "n_group": 8, "topk_group": 4, "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8,
          "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
          "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "v_head_dim": 128, "vocab_size": 129280})",
      "deepseek_v3.2");
}

/// 0.5 B and 33.6 B (the cards of tiiuae). By hand a layer of 1,024 channels: attention of 8 heads
/// of 64 and 2 of keys and values, an MLP, a state space of 24 heads of 64 with states of 128, a
/// filter of 4 and its bias, three numbers a head, two norms; counted are a third, and one of the
/// state space.
TEST(HuggingFaceHybrid, FalconH1HasBothMixersInEveryLayer) {
  nlohmann::json config = {{"model_type", "falcon_h1"},
                           {"hidden_size", 1024},
                           {"intermediate_size", 2048},
                           {"num_hidden_layers", 36},
                           {"num_attention_heads", 8},
                           {"num_key_value_heads", 2},
                           {"head_dim", 64},
                           {"mamba_chunk_size", 128},
                           {"mamba_d_conv", 4},
                           {"mamba_d_head", 64},
                           {"mamba_d_ssm", 1536},
                           {"mamba_d_state", 128},
                           {"mamba_expand", 2},
                           {"mamba_n_groups", 1},
                           {"mamba_n_heads", 24},
                           {"mamba_rms_norm", false},
                           {"num_logits_to_keep", 1},
                           {"max_position_embeddings", 16384},
                           {"vocab_size", 32784},
                           {"tie_word_embeddings", false}};
  const std::int64_t h = 1024;
  const std::int64_t mixer =
      h * (2 * 1536 + 2 * 128 + 24) + 5 * (1536 + 2 * 128) + 3 * 24 + 1536 * h;
  const std::int64_t layer = h * 64 * (8 + 2 * 2 + 8) + 3 * h * 2048 + mixer + 2 * h;
  EXPECT_EQ(36 * layer + 2 * 32'784 * h + h, 521'411'104);
  const ModelReading small = read_model_text(config.dump());
  EXPECT_EQ(small.problems, "");
  ASSERT_TRUE(small.read.has_value());
  EXPECT_EQ(testing::parameters(small), 521'411'104 + 36 * (h + 1536));
  EXPECT_EQ(small.read->transformer->layer_pattern.substr(0, 6), "M*-M*-");
  config["mamba_d_ssm"] = 1024;
  EXPECT_NE(read_model_text(config.dump()).problems.find("24 of 64 are not 1024"),
            std::string::npos);
  config["mamba_d_ssm"] = nullptr;  // twice the hidden size
  EXPECT_NE(read_model_text(config.dump()).problems.find("24 of 64 are not 2048"),
            std::string::npos);
  config.update({{"hidden_size", 5120},
                 {"intermediate_size", 21504},
                 {"num_hidden_layers", 72},
                 {"num_attention_heads", 20},
                 {"num_key_value_heads", 4},
                 {"head_dim", 128},
                 {"mamba_d_head", 128},
                 {"mamba_d_ssm", 4096},
                 {"mamba_d_state", 256},
                 {"mamba_n_groups", 2},
                 {"mamba_n_heads", 32},
                 {"vocab_size", 261'120}});
  const ModelReading large = read_model_text(config.dump());
  EXPECT_EQ(large.problems, "");
  EXPECT_NEAR(static_cast<double>(testing::parameters(large)), 33.64e9, 0.005e9);
}

}  // namespace
}  // namespace headway
