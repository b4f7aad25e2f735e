#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using ::testing::HasSubstr;

using testing::expect_as_in_library;
using testing::ModelReading;
using testing::read_model_text;

TEST(HuggingFaceExperts, MixtralHasExpertsInEveryLayer) {
  expect_as_in_library(
      R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
          "max_position_embeddings": 32768, "num_attention_heads": 32, "num_experts_per_tok": 2,
          "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
          "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})",
      "mixtral_8x7b");
}

TEST(HuggingFaceExperts, DeepSeekHasLatentAttentionSharedExpertsAndLeadingDenseLayers) {
  expect_as_in_library(
      R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_size": 7168,
          "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840,
          "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256,
          "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8,
          "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
          "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "topk_group": 4, "v_head_dim": 128, "vocab_size": 129280})",
      "deepseek_v3");
}

TEST(HuggingFaceExperts, QwenExpertsHaveASizeOfTheirOwn) {
  expect_as_in_library(
      R"({"model_type": "qwen3_moe", "decoder_sparse_step": 1, "head_dim": 128,
          "hidden_size": 2048, "intermediate_size": 6144, "max_position_embeddings": 40960,
          "mlp_only_layers": [], "moe_intermediate_size": 768, "num_attention_heads": 32,
          "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
          "num_key_value_heads": 4, "tie_word_embeddings": false, "vocab_size": 151936})",
      "qwen3_30b_a3b");
}

TEST(HuggingFaceExperts, LayersWithoutExpertsMayLead) {
  const auto reading = [](const std::string& fields) {
    return read_model_text(
        R"({"model_type": "qwen3_moe", "head_dim": 16, "hidden_size": 64, "intermediate_size": 128,
  "max_position_embeddings": 128, "moe_intermediate_size": 32, "num_attention_heads": 4,
  "num_experts": 16, "num_experts_per_tok": 2, "num_hidden_layers": 6, "num_key_value_heads": 4,
  "vocab_size": 100, )" +
        fields + "}");
  };
  const ModelReading leading = reading(R"("mlp_only_layers": [0, 1, 2])");
  EXPECT_EQ(leading.problems, "");
  // Three MLPs of three matrices of 64 x 128; three times 16 experts of three of 64 x 32 and a
  // router.
  const ModelReading none = reading(R"("mlp_only_layers": [])");
  EXPECT_EQ(testing::parameters(none) - testing::parameters(leading),
            3 * (16 * 3 * 64 * 32 + 16 * 64 - 3 * 64 * 128));
  EXPECT_THAT(reading(R"("mlp_only_layers": [0, 2])").problems,
              HasSubstr("single layers without experts are not supported"));
  // Layers 1, 3 and 5 have experts, but for the first two.
  EXPECT_EQ(reading(R"("decoder_sparse_step": 2, "mlp_only_layers": [0, 1])").problems, "");
  EXPECT_THAT(reading(R"("decoder_sparse_step": 2, "mlp_only_layers": [0, 1, 2])").problems,
              HasSubstr("single layers without experts are not supported"));
}

TEST(HuggingFaceExperts, GptOssHasSinksBiasesAndAWindowInEverySecondLayer) {
  expect_as_in_library(
      R"({"model_type": "gpt_oss", "attention_bias": true, "head_dim": 64, "hidden_size": 2880,
          "intermediate_size": 2880, "layer_types": ["sliding_attention", "full_attention",
          "sliding_attention", "full_attention"], "max_position_embeddings": 131072,
          "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 24,
          "num_key_value_heads": 8, "num_local_experts": 32, "sliding_window": 128,
          "tie_word_embeddings": false, "vocab_size": 201088})",
      "gpt_oss_20b");
}

TEST(HuggingFaceExperts, Llama4KeepsItsTextApartAndMayHaveExpertsInEverySecondLayer) {
  expect_as_in_library(
      R"({"model_type": "llama4", "text_config": {
          "model_type": "llama4_text", "attention_bias": false, "attention_chunk_size": 8192,
          "head_dim": 128, "hidden_size": 5120, "interleave_moe_layer_step": 2,
          "intermediate_size": 8192, "intermediate_size_mlp": 16384,
          "max_position_embeddings": 1048576, "num_attention_heads": 40,
          "num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8,
          "num_local_experts": 128, "tie_word_embeddings": false, "vocab_size": 202048}})",
      "llama4_maverick");
}

TEST(HuggingFaceExperts, GrokTiesItsEmbeddings) {
  expect_as_in_library(
      R"({"model_type": "grok-1", "hidden_size": 6144, "intermediate_size": 32768,
          "max_position_embeddings": 8192, "num_attention_heads": 48, "num_experts": 8,
          "num_experts_per_tok": 2, "num_hidden_layers": 64, "num_key_value_heads": 8,
          "vocab_size": 131072})",
      "grok_1");
}

TEST(HuggingFaceExperts, GemmaLeavesOutWhatItsClassSays) {
  expect_as_in_library(
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "head_dim": 128,
          "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32,
          "num_hidden_layers": 62, "num_key_value_heads": 16, "sliding_window": 1024}})",
      "gemma3_27b");
}

TEST(HuggingFaceExperts, GroupsThatDoNotShareOutExpertsAreRefused) {
  const auto problems = [](const std::string& groups) {
    return read_model_text(
               R"({"model_type": "deepseek_v3", "hidden_size": 64, "intermediate_size": 128,
  "kv_lora_rank": 8, "q_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
  "v_head_dim": 8, "max_position_embeddings": 128, "moe_intermediate_size": 32,
  "num_attention_heads": 4, "n_routed_experts": 16, "num_experts_per_tok": 6,
  "num_hidden_layers": 2, "first_k_dense_replace": 0, "vocab_size": 100, )" +
               groups + "}")
        .problems;
  };
  EXPECT_EQ(problems(R"("n_group": 4, "topk_group": 2)"), "");
  EXPECT_THAT(problems(R"("n_group": 3, "topk_group": 2)"),
              HasSubstr("error: groups have to have equally many experts\n  --> model.json:5:"));
  EXPECT_THAT(problems(R"("n_group": 4, "topk_group": 5)"),
              HasSubstr("a token cannot choose among more groups than there are"));
  EXPECT_THAT(problems(R"("n_group": 4, "topk_group": 1)"),
              HasSubstr("4 experts each, 6 for a token"));
}

TEST(HuggingFaceExperts, MoreExpertsATokenThanThereAreAreRefused) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 128,
  "max_position_embeddings": 128, "num_attention_heads": 4, "num_experts_per_tok": 9,
  "num_hidden_layers": 2, "num_local_experts": 8, "vocab_size": 100})");
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: a token cannot go to more experts than there are
  --> model.json:2:84   /num_experts_per_tok
   |
 2 |   "max_position_embeddings": 128, "num_attention_heads": 4, "num_experts_per_tok": 9,
   |                                                                                    ^ 9 of 8
  help: use at most 8
)");
}

TEST(HuggingFaceExperts, WindowsAtUnevenIntervalsAreRefused) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "gemma2", "hidden_size": 64, "intermediate_size": 128,
  "max_position_embeddings": 128, "num_attention_heads": 4, "num_hidden_layers": 4,
  "sliding_window": 32, "vocab_size": 100,
  "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]})");
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: full attention does not come at an even interval
  --> model.json:4:18   /layer_types
   |
 4 |   "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]}
   |                  ^
  help: read are models of which the last of every n layers attends to all
)");
}

/// A problem stands at the field of the configuration that says it.
TEST(HuggingFaceExperts, LayersWithoutExpertsAreToldByTheFamilysOwnWords) {
  const std::string counts = R"(, "hidden_size": 2560, "intermediate_size": 12288,
      "num_hidden_layers": 28, "num_attention_heads": 20, "moe_intermediate_size": 1536,
      "vocab_size": 100, "max_position_embeddings": 4096)";
  const auto problems = [&](const std::string& rest) {
    return read_model_text("{" + rest + counts + "}").problems;
  };
  EXPECT_NE(problems(R"("model_type": "ernie4_5_moe", "moe_num_experts": 4, "moe_k": 2,
      "moe_layer_start_index": 28)")
                .find("/moe_layer_start_index"),
            std::string::npos);
  EXPECT_NE(problems(R"("model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2,
      "decoder_sparse_step": 29)")
                .find("/decoder_sparse_step"),
            std::string::npos);
}

/// ERNIE 4.5 of 21 B: a dense layer leads, experts have names of their own.
TEST(HuggingFace, ErnieCallsItsExpertsByOtherNames) {
  const ModelReading reading = read_model_text(R"({"model_type": "ernie4_5_moe",
      "hidden_size": 2560, "intermediate_size": 12288, "num_hidden_layers": 28,
      "num_attention_heads": 20, "num_key_value_heads": 4, "moe_num_experts": 64,
      "moe_num_shared_experts": 2, "moe_layer_start_index": 1, "moe_intermediate_size": 1536,
      "moe_k": 6, "moe_layer_interval": 1, "vocab_size": 103424,
      "max_position_embeddings": 131072, "tie_word_embeddings": true, "use_bias": false})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  // By hand: heads of 128; 64 experts and two shared ones of three matrices, and a router.
  const std::int64_t attention = 2560 * 128 * (20 + 4 + 4 + 20);
  const std::int64_t experts = 66 * 3 * 2560 * 1536 + 64 * 2560;
  EXPECT_EQ(testing::parameters(reading),
            103'424 * 2560 + 28 * (attention + 2 * 2560) + 3 * 2560 * 12'288 + 27 * experts + 2560);
}

}  // namespace
}  // namespace headway
