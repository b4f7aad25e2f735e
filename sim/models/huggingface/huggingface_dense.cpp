#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr FieldNames kMptNames{.layers = "n_layers",
                               .hidden = "d_model",
                               .attention_heads = "n_heads",
                               .sequence_length = "max_seq_len"};
constexpr FieldNames kFalconNames{.kv_heads = "num_kv_heads", .default_sequence_length = 2048};
/// Inside of PaliGemma's files they leave out what is as in their configuration classes.
constexpr FieldNames kGemmaNames{.default_head_size = 256, .default_sequence_length = 8192};
/// Files of Gemma 3 leave out what is as in its configuration class.
constexpr FieldNames kGemma3Names{.default_attention_heads = 8,
                                  .default_kv_heads = 4,
                                  .default_head_size = 256,
                                  .default_vocabulary = 262'208,
                                  .default_sequence_length = 131'072};
constexpr FieldNames kHeadsOf128{.default_head_size = 128};

// What a family adds to the counts that all share. Defaults are those of its configuration class in
// the transformers library.

/// Qwen2 gives a window to the layers behind "max_window_layers" only.
void warn_of_window(ObjectReader& reader) {
  Diagnostic warning = given(reader.cursor(), "use_sliding_window")
                           ->problem("windows of some layers at the end are not modelled",
                                     "attention is counted over the whole sequence");
  warning.severity = Severity::warning;
  reader.diagnostics().add(std::move(warning));
}

void read_llama(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.mlp_bias = given_flag(reader, "mlp_bias", false);
}

/// MLPs of two matrices: a squared ReLU.
void read_plain_mlp(ObjectReader& reader, TransformerModel& model) {
  read_llama(reader, model);
  model.gated_mlp = false;
}

/// xIELU, whose two numbers a layer are not counted.
void read_apertus(ObjectReader& reader, TransformerModel& model) {
  read_plain_mlp(reader, model);
  model.query_key_norms = QueryKeyNorms::each_head;
}

void read_smollm3(ObjectReader& reader, TransformerModel& model) {
  read_llama(reader, model);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

void read_mistral(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_sliding_window(reader, model, 0);
}

void read_qwen2(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = true;
  if (given_flag(reader, "use_sliding_window", false)) warn_of_window(reader);
}

void read_biased_attention(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
}

void read_qwen3(ObjectReader& reader, TransformerModel& model) {
  read_biased_attention(reader, model);
  model.query_key_norms = QueryKeyNorms::each_head;
}

/// Published files tell the size of a head twice, and that there is one expert, the MLP.
void read_hunyuan(ObjectReader& reader, TransformerModel& model) {
  read_biased_attention(reader, model);
  read_query_key_norms(reader, model, "use_qk_norm", true);
  static_cast<void>(given_count(reader, "num_experts", between(0, 1), 1));
  static_cast<void>(given_count(reader, "attention_head_dim", model_limits::kHeadSize, 1));
}

/// Two norms more a layer than are counted: a hundredth of a percent of the parameters.
void read_gemma(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

void read_gemma2(ObjectReader& reader, TransformerModel& model) {
  read_gemma(reader, model);
  constexpr std::int64_t kEverySecond = 2;
  read_sliding_window(reader, model, kEverySecond);
}

void read_gemma3(ObjectReader& reader, TransformerModel& model) {
  read_gemma(reader, model);
  model.query_key_norms = QueryKeyNorms::each_head;
  constexpr std::int64_t kEverySixth = 6;
  read_sliding_window(
      reader, model,
      given_count(reader, "sliding_window_pattern", between(2, 10'000), kEverySixth));
}

/// Squared ReLU; its layer norm keeps a bias although nothing else has one.
void read_nemotron(ObjectReader& reader, TransformerModel& model) {
  read_llama(reader, model);
  model.gated_mlp = false;
  model.normalization = Normalization::layer_norm;
  model.normalization_bias = true;
}

void read_gpt_neox(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden = reader.integer("intermediate_size", model_limits::kFfnHidden);
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", true);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", false);
}

/// ALiBi, which adds no parameters, unless the configuration says otherwise.
void read_mpt(ObjectReader& reader, TransformerModel& model) {
  const bool biased = !given_flag(reader, "no_bias", true);
  model.qkv_bias = model.projection_bias = model.mlp_bias = model.normalization_bias = biased;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  model.position_encoding = PositionEncoding::none;

  double expansion = 4.0;
  if (given(reader.cursor(), "expansion_ratio")) {
    expansion = reader.number("expansion_ratio", between(0.001, 1000.0));
  }
  model.ffn_hidden = static_cast<std::int64_t>(expansion * static_cast<double>(model.hidden));
  model.ffn_hidden = std::max(model.ffn_hidden, std::int64_t{1});

  const std::optional<JsonCursor> part = given(reader.cursor(), "attn_config");
  if (!part) return;
  ObjectReader attention(*part, reader.diagnostics());
  read_query_key_norms(attention, model, "qk_ln", false, QueryKeyNorms::all_heads);
  if (given_flag(attention, "rope", false)) {
    model.position_encoding = PositionEncoding::rotary;
  } else if (!given_flag(attention, "alibi", true) && given_flag(reader, "learned_pos_emb", true)) {
    model.position_encoding = PositionEncoding::learned;
  }
  model.kv_heads =
      given_count(attention, "kv_n_heads", model_limits::kHeads, model.attention_heads);
  if (attention.text("attn_type", "") == "multiquery_attention") model.kv_heads = 1;
}

/// Norms behind attention and MLP instead of before them.
void read_olmo2(ObjectReader& reader, TransformerModel& model) {
  read_biased_attention(reader, model);
  model.query_key_norms = QueryKeyNorms::all_heads;
}

/// OLMo 2 with a window in three of four layers.
void read_olmo3(ObjectReader& reader, TransformerModel& model) {
  read_olmo2(reader, model);
  constexpr std::int64_t kEveryFourth = 4;
  read_sliding_window(reader, model, kEveryFourth);
}

/// Norms as Qwen3's, and a window where the pattern has an L, three of four layers unless it says
/// otherwise.
void read_exaone4(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.query_key_norms = QueryKeyNorms::each_head;
  constexpr std::string_view kPattern = "sliding_window_pattern";
  constexpr std::int64_t kEveryFourth = 4;
  const std::optional<JsonCursor> pattern = given(reader.cursor(), kPattern);
  if (!pattern || !pattern->value().is_string()) {
    read_sliding_window(reader, model,
                        given_count(reader, kPattern, between(2, 10'000), kEveryFourth));
    return;
  }
  const std::string letters = reader.text(kPattern);
  const bool is_even = letters.size() > 1 && letters.ends_with('G') &&
                       letters.find_first_not_of('L') == letters.size() - 1;
  if (!is_even) {
    reader.report(kPattern, "full attention does not come at an even interval", "",
                  R"(read are patterns such as "LLLG", of which the last attends to all)");
    return;
  }
  read_sliding_window(reader, model, std::ssize(letters));
}

void read_seed_oss(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = given_flag(reader, "attention_bias", true);
  model.projection_bias = given_flag(reader, "attention_out_bias", false);
  model.mlp_bias = given_flag(reader, "mlp_bias", false);
}

/// Falcon: one norm a layer less where attention and MLP stand side by side, which is not counted.
void read_falcon(ObjectReader& reader, TransformerModel& model) {
  const bool is_grouped = given_flag(reader, "new_decoder_architecture", false);
  if (!is_grouped) {
    model.kv_heads = given_flag(reader, "multi_query", true) ? 1 : model.attention_heads;
  }
  static_cast<void>(given_count(reader, "num_ln_in_parallel_attn", between(1, 2), 2));
  model.ffn_hidden =
      given_count(reader, "ffn_hidden_size", model_limits::kFfnHidden, 4 * model.hidden);
  const bool biased = given_flag(reader, "bias", false);
  model.qkv_bias = model.projection_bias = model.mlp_bias = biased;
  model.position_encoding =
      given_flag(reader, "alibi", false) ? PositionEncoding::none : PositionEncoding::rotary;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

/// Learned positions; the smallest but one (350m) embeds tokens in fewer dimensions, which is
/// warned of as unread.
void read_opt(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden = reader.integer("ffn_dim", model_limits::kFfnHidden);
  const bool biased = given_flag(reader, "enable_bias", true);
  model.qkv_bias = model.projection_bias = model.mlp_bias = biased;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  read_activation(reader, "activation_function", "relu", model);
  const auto embedded = given(reader.cursor(), "word_embed_proj_dim");
  if (embedded && embedded->value() == nlohmann::json(model.hidden)) {
    static_cast<void>(reader.integer("word_embed_proj_dim", model_limits::kHidden));
  }
}

/// Layer norms without a bias; attention and MLP stand side by side behind one, of two counted.
void read_cohere(ObjectReader& reader, TransformerModel& model) {
  read_biased_attention(reader, model);
  read_query_key_norms(reader, model, "use_qk_norm", false, QueryKeyNorms::all_heads);
  model.normalization = Normalization::layer_norm;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

void read_cohere2(ObjectReader& reader, TransformerModel& model) {
  read_cohere(reader, model);
  constexpr std::int64_t kEveryFourth = 4;
  read_sliding_window(
      reader, model,
      given_count(reader, "sliding_window_pattern", between(2, 10'000), kEveryFourth));
}

/// Biases of queries, keys and values alone. GLM-4 of 2025 has two norms a layer more than are
/// counted.
void read_glm(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = given_flag(reader, "attention_bias", false);
}

void read_starcoder2(ObjectReader& reader, TransformerModel& model) {
  read_gpt_neox(reader, model);
  const bool biased = given_flag(reader, "use_bias", true);
  model.qkv_bias = model.projection_bias = model.mlp_bias = biased;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  read_sliding_window(reader, model, 0);
}

/// Layer norms with a bias in the place of RMS norms. Where attention and MLP stand side by side,
/// they do so behind one norm, of two counted.
void read_stablelm(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = given_flag(reader, "use_qkv_bias", false);
  model.normalization = Normalization::layer_norm;
  model.normalization_bias = given_flag(reader, "use_norm_bias", true);
  read_query_key_norms(reader, model, "qk_layernorm", false, QueryKeyNorms::all_heads);
}

/// The first OLMo; its layer norms have no parameters, and a gain is counted.
void read_olmo(ObjectReader& reader, TransformerModel& model) {
  read_llama(reader, model);
  model.normalization = Normalization::layer_norm;
}

void read_internlm2(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "bias", false);
}

/// Phi-1 and Phi-2; attention and MLP stand side by side behind one norm, of two counted.
void read_phi(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden =
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, 4 * model.hidden);
  model.position_encoding = PositionEncoding::rotary;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", false);
  read_activation(reader, "hidden_act", "gelu_new", model);
  read_query_key_norms(reader, model, "qk_layernorm", false);
}

constexpr std::array<Family, 37> kDenseFamilies = {{
    {"llama", "LlamaForCausalLM", {}, read_llama},
    {"mistral", "MistralForCausalLM", {}, read_mistral},
    {"qwen2", "Qwen2ForCausalLM", {}, read_qwen2},
    {"qwen3", "Qwen3ForCausalLM", {}, read_qwen3},
    {"nemotron", "NemotronForCausalLM", {}, read_nemotron},
    {"gemma", "GemmaForCausalLM", kGemmaNames, read_gemma},
    {"gemma2", "Gemma2ForCausalLM", kGemmaNames, read_gemma2},
    {"gemma3", "Gemma3ForConditionalGeneration", kGemma3Names, read_gemma3},
    {"gemma3_text", "Gemma3ForCausalLM", kGemma3Names, read_gemma3},
    {"gpt_neox", "GPTNeoXForCausalLM", {}, read_gpt_neox},
    {"mpt", "MPTForCausalLM", kMptNames, read_mpt},
    {"olmo2", "Olmo2ForCausalLM", {}, read_olmo2},
    {"phi", "PhiForCausalLM", {}, read_phi},
    {"phi3", "Phi3ForCausalLM", {}, read_mistral},
    {"falcon", "FalconForCausalLM", kFalconNames, read_falcon},
    {"opt", "OPTForCausalLM", {}, read_opt},
    {"cohere", "CohereForCausalLM", {}, read_cohere},
    {"cohere2", "Cohere2ForCausalLM", {}, read_cohere2},
    {"glm", "GlmForCausalLM", {}, read_glm},
    {"glm4", "Glm4ForCausalLM", {}, read_glm},
    {"granite", "GraniteForCausalLM", {}, read_llama},
    {"smollm3", "SmolLM3ForCausalLM", {}, read_smollm3},
    {"starcoder2", "Starcoder2ForCausalLM", {}, read_starcoder2},
    {"stablelm", "StableLmForCausalLM", {}, read_stablelm},
    {"olmo", "OlmoForCausalLM", {}, read_olmo},
    {"internlm2", "InternLM2ForCausalLM", {}, read_internlm2},
    {"olmo3", "Olmo3ForCausalLM", {}, read_olmo3},
    {"exaone4", "Exaone4ForCausalLM", {}, read_exaone4},
    {"apertus", "ApertusForCausalLM", {}, read_apertus},
    {"arcee", "ArceeForCausalLM", {}, read_plain_mlp},
    {"seed_oss", "SeedOssForCausalLM", kHeadsOf128, read_seed_oss},
    {"ernie4_5", "Ernie4_5ForCausalLM", kHeadsOf128, read_ernie},
    {"mistral3", "Mistral3ForConditionalGeneration", {}, read_mistral},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", {}, read_qwen2},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", {}, read_qwen2},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", kHeadsOf128, read_qwen3},
    {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", {}, read_hunyuan},
}};

}  // namespace

void read_ernie(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  const bool biased = given_flag(reader, "use_bias", false);
  model.qkv_bias = model.projection_bias = model.mlp_bias = biased;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

std::span<const Family> dense_families() { return kDenseFamilies; }

}  // namespace headway
