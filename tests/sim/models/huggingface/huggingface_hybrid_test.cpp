// Configurations of layers with a state and of sparse attention. The texts are written from
// published sizes (as the library's sources say) with the fields that the transformers library
// gives them, and are no copies of files.
#include <gtest/gtest.h>

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
  has(problems("2", R"("layers_block_type": ["mamba", "conv"])"), "'?' is no layer");
  has(problems("2", R"("bos_token_id": 1)"), "the pattern of the layers is missing");
}

TEST(HuggingFaceHybrid, Qwen3NextHasThreeDeltaNetsToALayerOfGatedAttention) {
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

TEST(HuggingFaceHybrid, DeepSeekMayHaveAnIndexer) {
  expect_as_in_library(
      R"({"model_type": "deepseek_v32", "first_k_dense_replace": 3, "hidden_size": 7168,
          "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048,
          "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840,
          "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256,
          "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8,
          "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
          "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "v_head_dim": 128, "vocab_size": 129280})",
      "deepseek_v3.2");
}

}  // namespace
}  // namespace headway
