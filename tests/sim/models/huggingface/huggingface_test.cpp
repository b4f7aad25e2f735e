#include "sim/models/huggingface/huggingface.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/parameters.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/models/model_reading.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;
using testing::read_scenario_model;

constexpr const char* kLlama3 = R"({
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "hidden_act": "silu",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 8192,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05,
  "rope_scaling": null,
  "rope_theta": 500000.0,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 128256
})";

std::string changed_configuration(const std::string& from, const std::string& to) {
  std::string text = kLlama3;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(HuggingFace, WhatIsNoObjectIsAProblem) {
  for (const char* text : {"\"x\"", "[]", "1", "null"}) {
    const ScratchFolder scratch;
    const std::string config = scratch.write("config.json", text);
    const ModelReading reading =
        read_model_text(R"({"schema": "headway/model/1", "huggingface": ")" + config + "\"}");
    EXPECT_FALSE(reading.read.has_value());
    EXPECT_TRUE(reading.has_errors);
    EXPECT_NE(reading.problems.find("a Hugging Face configuration is an object"), std::string::npos)
        << reading.problems;
  }
}

TEST(HuggingFace, LlamaHasThePublishedParameters) {
  const ModelReading reading = read_model_text(kLlama3);
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 8'030'261'248);
  const TransformerModel expected{.name = "model",
                                  .source = "Hugging Face configuration model.json",
                                  .layers = 32,
                                  .hidden = 4096,
                                  .attention_heads = 32,
                                  .kv_heads = 8,
                                  .head_size = 128,
                                  .ffn_hidden = 14336,
                                  .gated_mlp = true,
                                  .vocabulary = 128256,
                                  .normalization = Normalization::rms_norm,
                                  .normalization_bias = false,
                                  .position_encoding = PositionEncoding::rotary,
                                  .qkv_bias = false,
                                  .projection_bias = false,
                                  .mlp_bias = false,
                                  .sequence_length = 8192};
  EXPECT_EQ(reading.read->transformer, expected);
}

TEST(HuggingFace, LlamaMayHaveBiasesAHeadSizeAndATiedHead) {
  const ModelReading reading = read_model_text(changed_configuration(
      R"("attention_bias": false,)", R"("attention_bias": true, "mlp_bias": true,
              "head_dim": 64, "_name_or_path": "mine/llama",)"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const TransformerModel& model = *reading.read->transformer;
  EXPECT_TRUE(model.qkv_bias && model.projection_bias && model.mlp_bias);
  EXPECT_EQ(model.head_size, 64);
  EXPECT_EQ(model.name, "mine/llama");
}

TEST(HuggingFace, NullMeansTheDefault) {
  const ModelReading reading = read_model_text(changed_configuration(
      R"("num_key_value_heads": 8)", R"("num_key_value_heads": null, "head_dim": null)"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->kv_heads, 32);
  EXPECT_EQ(reading.read->transformer->head_size, 128);
}

TEST(HuggingFace, Gpt2HasThePublishedParameters) {
  const ModelReading reading = read_model_text(
      R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_ctx": 1024,
          "n_embd": 768, "n_head": 12, "n_inner": null, "n_layer": 12, "n_positions": 1024,
          "vocab_size": 50257})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 124'439'808);
}

TEST(HuggingFace, Qwen2HasBiasesOfTheQueriesKeysAndValuesOnly) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
          "max_position_embeddings": 131072, "num_attention_heads": 28, "num_hidden_layers": 28,
          "num_key_value_heads": 4, "sliding_window": 4096, "use_sliding_window": false,
          "tie_word_embeddings": false, "vocab_size": 152064})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 7'615'616'512);
}

TEST(HuggingFace, GptNeoxHasThePublishedParameters) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
          "max_position_embeddings": 2048, "num_attention_heads": 64, "num_hidden_layers": 44,
          "rotary_pct": 0.25, "tie_word_embeddings": false, "vocab_size": 50432})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 20'554'567'680);
}

TEST(HuggingFace, NemotronHasAPlainMlpAndABiasedLayerNorm) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "nemotron", "hidden_act": "relu2", "hidden_size": 18432,
          "intermediate_size": 73728, "max_position_embeddings": 4096,
          "num_attention_heads": 96, "num_hidden_layers": 96, "num_key_value_heads": 8,
          "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false,
          "vocab_size": 256000})");
  EXPECT_EQ(reading.problems, "");
  // A layer: 18432 x (96 + 16) x 192 + 18432^2 + 2 x 18432 x 73728 + 4 x 18432 = 3,454,083,072;
  // 96 of them, 2 x 256000 x 18432 = 9,437,184,000 and a final norm of 36,864.
  EXPECT_EQ(parameters(reading), 96 * 3'454'083'072 + 9'437'184'000 + 36'864);
}

TEST(HuggingFace, MptHasNoBiasAtAll) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "mpt", "attn_config": {"alibi": true, "attn_type": "multihead_attention"},
          "d_model": 4096, "expansion_ratio": 4, "learned_pos_emb": true, "max_seq_len": 2048,
          "n_heads": 32, "n_layers": 32, "no_bias": true, "vocab_size": 50432})");
  EXPECT_EQ(reading.problems, "");
  // A layer: 12 x 4096^2 + 2 x 4096 = 201,334,784; 50432 x 4096 = 206,569,472; a norm of 4096.
  EXPECT_EQ(parameters(reading), 32 * 201'334'784LL + 206'569'472 + 4096);
  EXPECT_EQ(reading.read->transformer->position_encoding, PositionEncoding::none);
}

TEST(HuggingFace, MptMayShareKeysAndLearnPositions) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "mpt", "attn_config": {"alibi": false, "kv_n_heads": 8,
          "attn_type": "grouped_query_attention"}, "d_model": 3072, "max_seq_len": 4096,
          "n_heads": 24, "n_layers": 32, "no_bias": true, "vocab_size": 32768})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->kv_heads, 8);
  EXPECT_EQ(reading.read->transformer->position_encoding, PositionEncoding::learned);
}

TEST(HuggingFace, MistralAttendsToAWindowInEveryLayer) {
  const std::string config = R"({
  "architectures": ["MistralForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
  "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32,
  "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
  "vocab_size": 32000, "sliding_window": )";
  const ModelReading reading = read_model_text(config + "4096}");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 7'241'732'096);
  EXPECT_EQ(reading.read->transformer->sliding_window, (SlidingWindow{.size = 4096}));
  EXPECT_TRUE(layer_variant(*reading.read->transformer, 31).windowed);
  // As long as the longest sequence it hides nothing.
  EXPECT_FALSE(read_model_text(config + "32768}").read->transformer->sliding_window.has_value());
}

/// A configuration says how far a model reaches; training sees shorter sequences.
TEST(HuggingFace, SequencesAreThoseOfTraining) {
  const auto sequence = [](const std::string& positions) {
    return read_model_text(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, )" +
                           positions + "}")
        .read->transformer->sequence_length;
  };
  EXPECT_EQ(sequence(R"("max_position_embeddings": 2048)"), 2048);
  EXPECT_EQ(sequence(R"("max_position_embeddings": 131072)"), 8192);
  EXPECT_EQ(sequence(R"("max_position_embeddings": 131072, "rope_scaling": {"factor": 32,
                         "original_max_position_embeddings": 4096})"),
            4096);
  EXPECT_EQ(sequence(R"("max_position_embeddings": 131072,
                         "original_max_position_embeddings": 4096)"),
            4096);
  EXPECT_EQ(sequence(R"("max_position_embeddings": 131072, "rope_scaling": null)"), 8192);
}

/// A learned table has a row for each position: 16,384 of them, of 64 elements.
TEST(HuggingFace, LearnedPositionsAreAllThere) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": 16384,
          "vocab_size": 100})");
  EXPECT_EQ(reading.read->transformer->sequence_length, 16'384);
}

TEST(HuggingFace, Qwen2WithWindowsInSomeLayersIsWarnedOf) {
  const ModelReading reading = read_model_text(
      R"({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 128,
          "max_position_embeddings": 4096, "num_attention_heads": 4, "num_hidden_layers": 28,
          "use_sliding_window": true, "vocab_size": 100})");
  EXPECT_EQ(reading.problems, R"(warning: windows of some layers at the end are not modelled
  --> model.json:3:33   /use_sliding_window
   |
 3 |           "use_sliding_window": true, "vocab_size": 100}
   |                                 ^^^^ attention is counted over the whole sequence
)");
}

TEST(HuggingFace, ActivationsAreTheLibrarysUnlessTheConfigurationNamesAnother) {
  const auto activation = [](const std::string& type, const std::string& function) {
    const ModelReading reading = read_model_text(
        R"({"hidden_size": 64, "n_embd": 64, "n_embed": 64, "ffn_dim": 256, "num_hidden_layers": 2,
            "n_layer": 2, "num_layers": 2, "num_attention_heads": 4, "n_head": 4, "num_heads": 4,
            "max_position_embeddings": 32, "n_positions": 32, "seq_length": 32, "vocab_size": 100,
            "model_type": ")" +
        type + '"' + function + "}");
    return reading.read->transformer->activation;
  };
  using enum ActivationFunction;
  EXPECT_EQ(activation("opt", ""), relu);
  EXPECT_EQ(activation("opt", R"(, "activation_function": "relu")"), relu);
  EXPECT_EQ(activation("opt", R"(, "activation_function": "gelu")"), gelu);
  EXPECT_EQ(activation("gpt2", ""), gelu_new);
  EXPECT_EQ(activation("gpt2", R"(, "activation_function": "gelu_pytorch_tanh")"), gelu);
  EXPECT_EQ(activation("gpt2", R"(, "activation_function": "relu")"), relu);
  EXPECT_EQ(activation("gpt_neo", ""), gelu_new);
  EXPECT_EQ(activation("gptj", R"(, "activation_function": "gelu_new")"), gelu_new);
  EXPECT_EQ(activation("codegen", ""), gelu_new);
  EXPECT_EQ(activation("gpt_bigcode", ""), gelu);
  EXPECT_EQ(activation("bloom", ""), gelu);
  EXPECT_EQ(activation("phi", ""), gelu_new);
  EXPECT_EQ(activation("phi", R"(, "hidden_act": "gelu")"), gelu);
}

TEST(HuggingFace, ArchitectureStandsInForAMissingType) {
  const ModelReading reading =
      read_model_text(changed_configuration(R"("model_type": "llama",)", ""));
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(parameters(reading), 8'030'261'248);
}

TEST(HuggingFace, ResolvedFormIsExplicit) {
  const ModelReading first = read_model_text(kLlama3);
  ASSERT_TRUE(first.read.has_value());
  const ModelReading second = read_model_text(first.read->resolved->dump());
  EXPECT_EQ(second.problems, "");
  ASSERT_TRUE(second.read.has_value());
  EXPECT_EQ(second.read->transformer, first.read->transformer);
}

TEST(HuggingFace, IsFoundBesideTheFileThatNamesIt) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "headway_huggingface_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << kLlama3;
  const std::string scenario = (folder / "scenario.json").string();

  const ModelReading named = read_scenario_model(
      R"({"model": {"huggingface": "config.json", "name": "Mine", "parameters": 8000000000}})", {},
      scenario);
  EXPECT_EQ(named.problems, "");
  EXPECT_EQ(parameters(named), 8'030'261'248);
  EXPECT_EQ(named.read->transformer->name, "Mine");

  const ModelReading direct = read_scenario_model(R"({"model": "config.json"})", {}, scenario);
  EXPECT_EQ(direct.problems, "");
  EXPECT_EQ(parameters(direct), 8'030'261'248);

  const ModelReading shorter =
      read_scenario_model(R"({"model": {"huggingface": "config.json", "parameters": 8000000000}})",
                          {"/model/huggingface/num_hidden_layers=8"}, scenario);
  EXPECT_EQ(shorter.problems, "");
  ASSERT_TRUE(shorter.read.has_value());
  EXPECT_EQ(shorter.read->transformer->layers, 8);
  std::filesystem::remove_all(folder);
}

TEST(HuggingFace, PublishedParametersAreCheckedHereToo) {
  const ModelReading reading = read_scenario_model(
      std::string("{\"model\": {\"parameters\": 7000000000,\n\"huggingface\": ") + kLlama3 + "}}");
  EXPECT_EQ(reading.problems, R"(error: the fields do not add up to the published parameters
  --> scenario.json:1:26   /model/parameters
   |
 1 | {"model": {"parameters": 7000000000,
   |                          ^^^^^^^^^^ 7,000,000,000 published, 8,030,261,248 from the fields
  help: mend the field that is off, or leave "parameters" out of a model of your own
)");
}

TEST(HuggingFace, OtherFamiliesAreRefused) {
  const ModelReading reading = read_model_text(
      changed_configuration(R"("model_type": "llama")", R"("model_type": "mamba3")"));
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: this Hugging Face model type is not supported
  --> model.json:8:17   /model_type
   |
 8 |   "model_type": "mamba3",
   |                 ^^^^^^^^ did you mean "mamba2"?
  help: read are llama, mistral, qwen2, qwen3, nemotron, gemma, gemma2, gemma3, gemma3_text, gpt_neox, mpt, olmo2, phi, phi3, falcon, opt, cohere, cohere2, glm, glm4, granite, smollm3, starcoder2, stablelm, olmo, internlm2, olmo3, exaone4, apertus, arcee, seed_oss, ernie4_5, mistral3, qwen2_vl, qwen2_5_vl, qwen3_vl, hunyuan_v1_dense, gpt2, gpt_neo, gptj, codegen, gpt_bigcode, bloom, mixtral, deepseek_v2, deepseek_v3, kimi_k2, qwen3_moe, qwen2_moe, olmoe, phimoe, glm4_moe, gpt_oss, llama4, llama4_text, grok-1, qwen3_vl_moe, minimax_m2, ernie4_5_moe, dots1, glm4_moe_lite, deepseek, bailing_moe, dbrx, hunyuan_v1_moe, nemotron_h, granitemoehybrid, mamba2, bamba, glm_moe_dsa, deepseek_v32, falcon_h1, longcat_flash, mamba, falcon_mamba, jamba, qwen3_next, qwen3_5, qwen3_5_moe, minimax, minimax_text_01, minimax_m1, kimi_linear, lfm2, lfm2_moe, t5, mt5, bart, mbart, pegasus, m2m_100, whisper, wav2vec2, hubert, wavlm, bert, roberta, xlm-roberta, camembert, distilbert, electra, modernbert, deberta-v2, mobilebert, vit, deit, dinov2, swin, clip, siglip, siglip_vision_model, resnet, convnext, convnextv2; any other decoder can be written out in fields of ours, which `headway explain model` lists
)");
}

TEST(HuggingFace, ExpertsOfADenseFamilyAreRefused) {
  const ModelReading reading = read_model_text(changed_configuration(R"("model_type": "llama",)",
                                                                     R"("model_type": "llama",
  "num_local_experts": 8,)"));
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: a mixture of experts is not supported
  --> model.json:9:24   /num_local_experts
   |
 9 |   "num_local_experts": 8,
   |                        ^ this family is read as a dense one
  help: read are llama, mistral, qwen2, qwen3, nemotron, gemma, gemma2, gemma3, gemma3_text, gpt_neox, mpt, olmo2, phi, phi3, falcon, opt, cohere, cohere2, glm, glm4, granite, smollm3, starcoder2, stablelm, olmo, internlm2, olmo3, exaone4, apertus, arcee, seed_oss, ernie4_5, mistral3, qwen2_vl, qwen2_5_vl, qwen3_vl, hunyuan_v1_dense, gpt2, gpt_neo, gptj, codegen, gpt_bigcode, bloom, mixtral, deepseek_v2, deepseek_v3, kimi_k2, qwen3_moe, qwen2_moe, olmoe, phimoe, glm4_moe, gpt_oss, llama4, llama4_text, grok-1, qwen3_vl_moe, minimax_m2, ernie4_5_moe, dots1, glm4_moe_lite, deepseek, bailing_moe, dbrx, hunyuan_v1_moe, nemotron_h, granitemoehybrid, mamba2, bamba, glm_moe_dsa, deepseek_v32, falcon_h1, longcat_flash, mamba, falcon_mamba, jamba, qwen3_next, qwen3_5, qwen3_5_moe, minimax, minimax_text_01, minimax_m1, kimi_linear, lfm2, lfm2_moe, t5, mt5, bart, mbart, pegasus, m2m_100, whisper, wav2vec2, hubert, wavlm, bert, roberta, xlm-roberta, camembert, distilbert, electra, modernbert, deberta-v2, mobilebert, vit, deit, dinov2, swin, clip, siglip, siglip_vision_model, resnet, convnext, convnextv2; any other decoder can be written out in fields of ours, which `headway explain model` lists
)");
}

TEST(HuggingFace, MissingShapeIsNamed) {
  const ModelReading reading =
      read_model_text(changed_configuration("  \"hidden_size\": 4096,\n", ""));
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: missing field "hidden_size"
  --> model.json:1:1
   |
 1 | {
   | ^
  help: for example "hidden_size": 1
)");
}

TEST(HuggingFace, KeyValueHeadsMustDivideTheAttentionHeads) {
  const ModelReading reading = read_model_text(
      changed_configuration(R"("num_key_value_heads": 8)", R"("num_key_value_heads": 5)"));
  EXPECT_EQ(reading.problems, R"(error: the key-value heads must divide the attention heads
  --> model.json:11:26   /num_key_value_heads
   |
11 |   "num_key_value_heads": 5,
   |                          ^ 5 does not divide 32
   |
  ::: model.json:9:26   /num_attention_heads is 32
  help: grouped-query attention gives each key-value head as many attention heads
)");
}

TEST(HuggingFace, ModelsAreCalledLikeTheirFileOrFolder) {
  const auto name_of = [](const std::string& file) {
    Diagnostics diagnostics;
    const auto document = JsonDocument::parse(file, kLlama3, diagnostics);
    return read_huggingface(JsonCursor(document), diagnostics).value().name;
  };
  EXPECT_EQ(name_of("mine/llama13.json"), "llama13");
  EXPECT_EQ(name_of("Meta-Llama-3-8B/config.json"), "Meta-Llama-3-8B");
  EXPECT_EQ(name_of("config.json"), "llama");
  EXPECT_EQ(name_of("../config.json"), "llama");
}

TEST(HuggingFace, CountsThatNobodyReadsAreToldOf) {
  const ModelReading reading = read_model_text(
      changed_configuration(R"("num_hidden_layers": 32,)",
                            R"("num_hidden_layers": 32, "num_ssm_layers": 4, "num_beams": 1,
                                 "unused_size": null, "none_experts": 0, "attention_dropout": 0.1,)"));
  EXPECT_FALSE(reading.has_errors);
  EXPECT_NE(reading.problems.find("warning: \"num_ssm_layers\" is not read"), std::string::npos)
      << reading.problems;
  EXPECT_EQ(reading.problems.find("warning", 8), std::string::npos) << reading.problems;
}

TEST(HuggingFace, WeightsOfFewerBitsAreToldOf) {
  const auto problems_of = [](const char* quantised) {
    return read_model_text(changed_configuration(
                               R"("num_hidden_layers": 32,)",
                               std::string(R"("num_hidden_layers": 32, "quantization_config": )") +
                                   quantised + ","))
        .problems;
  };
  const std::string problems =
      problems_of(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})");
  EXPECT_NE(problems.find("warning: \"quantization_config\" is not read"), std::string::npos)
      << problems;
  EXPECT_NE(problems.find("QLoRA"), std::string::npos) << problems;
  EXPECT_EQ(problems_of("null"), "");
}

}  // namespace
}  // namespace headway
