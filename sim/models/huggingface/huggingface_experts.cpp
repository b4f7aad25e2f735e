#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {

void set_experts(ObjectReader& reader, TransformerModel& model, const MixtureOfExperts& mixture,
                 const ExpertKeys& keys) {
  model.mixture_of_experts = mixture;
  if (reader.diagnostics().has_errors()) return;
  check_experts(mixture, model.layers, reader, keys);
}

void read_single_dense_layers(ObjectReader& reader, std::int64_t layers,
                              MixtureOfExperts& mixture) {
  const auto dense = given(reader.cursor(), "mlp_only_layers");
  if (!dense || dense->value().empty()) return;
  const auto numbers =
      reader.integers("mlp_only_layers", between(0, static_cast<double>(layers - 1)), true);
  if (!numbers) return;
  const std::set<std::int64_t> named(numbers->begin(), numbers->end());
  // They lead if they are the first ones; the interval of the others is counted from layer 0.
  const auto count = static_cast<std::int64_t>(named.size());
  if (*named.rbegin() == count - 1 && count % mixture.interval == 0) {
    mixture.leading_dense_layers = count;
    return;
  }
  reader.report("mlp_only_layers", "single layers without experts are not supported", "",
                "dense layers may lead, or come at an even interval");
}

namespace {

/// The two counts that every family has, by its own names, and experts of `expert_hidden`.
MixtureOfExperts read_experts(ObjectReader& reader, std::string_view experts_key,
                              std::int64_t expert_hidden,
                              std::string_view per_token_key = kUsualExpertKeys.per_token) {
  return {.experts = reader.integer(experts_key, model_limits::kExperts),
          .experts_per_token = reader.integer(per_token_key, model_limits::kExpertsPerToken),
          .expert_hidden = expert_hidden};
}

/// Experts in every layer, of the size that dense models give the MLP.
void read_mixtral(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_sliding_window(reader, model, 0);
  set_experts(reader, model, read_experts(reader, "num_local_experts", model.ffn_hidden));
}

void read_grok1(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  set_experts(reader, model, read_experts(reader, "num_experts", model.ffn_hidden));
}

void read_qwen3_moe(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.query_key_norms = QueryKeyNorms::each_head;
  MixtureOfExperts mixture = read_experts(
      reader, "num_experts", reader.integer("moe_intermediate_size", model_limits::kFfnHidden));
  mixture.interval = given_count(reader, "decoder_sparse_step", model_limits::kLayers, 1);
  read_single_dense_layers(reader, model.layers, mixture);
  set_experts(reader, model, mixture, kSparseStepKeys);
}

/// Biases of queries, keys and values; the gate of the shared expert, one column, is not counted.
void read_qwen2_moe(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = given_flag(reader, "qkv_bias", true);
  MixtureOfExperts mixture = read_experts(
      reader, "num_experts", reader.integer("moe_intermediate_size", model_limits::kFfnHidden));
  mixture.shared_expert_hidden =
      given_count(reader, "shared_expert_intermediate_size", model_limits::kSharedHidden, 0);
  mixture.interval = given_count(reader, "decoder_sparse_step", model_limits::kLayers, 1);
  read_single_dense_layers(reader, model.layers, mixture);
  set_experts(reader, model, mixture, kSparseStepKeys);
}

void read_olmoe(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.query_key_norms = QueryKeyNorms::all_heads;
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  set_experts(reader, model, read_experts(reader, "num_experts", model.ffn_hidden));
}

/// Layer norms with a bias.
void read_phimoe(ObjectReader& reader, TransformerModel& model) {
  read_mixtral(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.normalization = Normalization::layer_norm;
  model.normalization_bias = true;
}

/// Every matrix and the router have biases; a learned sink a head.
void read_gpt_oss(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", true);
  model.mlp_bias = true;
  model.attention_sinks = true;
  constexpr std::int64_t kEverySecond = 2;
  read_sliding_window(reader, model, kEverySecond);
  set_experts(reader, model, read_experts(reader, "num_local_experts", model.ffn_hidden));
}

/// Dense layers have an MLP of "intermediate_size_mlp", the others experts and a shared one of
/// "intermediate_size". Attention over chunks ("attention_chunk_size") is full attention up to that
/// length. Norms of queries and keys without gains, of layers with positions only, are not counted.
void read_llama4(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  const std::int64_t expert_hidden = model.ffn_hidden;
  model.ffn_hidden =
      given_count(reader, "intermediate_size_mlp", model_limits::kFfnHidden, expert_hidden);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  MixtureOfExperts mixture = read_experts(reader, "num_local_experts", expert_hidden);
  mixture.shared_expert_hidden = expert_hidden;
  mixture.interval = given_count(reader, "interleave_moe_layer_step", model_limits::kLayers, 1);
  const std::int64_t chunk = given_count(reader, "attention_chunk_size",
                                         model_limits::kSequenceLength, model.sequence_length);
  model.sequence_length = std::min(model.sequence_length, chunk);
  set_experts(reader, model, mixture,
              {.per_token = kUsualExpertKeys.per_token, .interval = "interleave_moe_layer_step"});
}

LatentAttention read_latent_attention(ObjectReader& reader) {
  return {.query_rank = given_count(reader, "q_lora_rank", model_limits::kQueryRank, 0),
          .key_value_rank = reader.integer("kv_lora_rank", model_limits::kHidden),
          .head_size_without_rotary = reader.integer("qk_nope_head_dim", model_limits::kHeadSize),
          .rotary_head_size = reader.integer("qk_rope_head_dim", model_limits::kHeadSize),
          .value_head_size = reader.integer("v_head_dim", model_limits::kHeadSize)};
}

/// "mlp_layer_types", where given, names the layers without experts, which have to lead.
std::int64_t leading_dense_layers(ObjectReader& reader, std::int64_t layers) {
  constexpr std::string_view kTypes = "mlp_layer_types";
  constexpr std::string_view kLeading = "first_k_dense_replace";
  const std::int64_t leading = given_count(reader, kLeading, model_limits::kLeadingLayers, 0);
  const std::optional<JsonCursor> types = given(reader.cursor(), kTypes);
  if (!types || !types->is_array()) return leading;
  const nlohmann::json& list = types->value();
  const auto is_dense = [](const nlohmann::json& type) { return type == "dense"; };
  if (std::ssize(list) != layers) {
    reader.report(kTypes, "mlp_layer_types names the MLP of every layer",
                  fmt::format("{} for {} layers", list.size(), layers),
                  R"(write "dense" or "sparse" for each)");
  }
  const auto first = std::ranges::find_if_not(list, is_dense);
  if (std::any_of(first, list.end(), is_dense)) {
    reader.report(kTypes, "a layer without experts comes behind one that has them", "",
                  "read are models whose dense layers lead");
  }
  const std::int64_t listed = first - list.begin();
  if (given(reader.cursor(), kLeading) && leading != listed) {
    reader.report(kTypes, fmt::format("{} says otherwise", kLeading),
                  fmt::format("{} dense layers lead here, {} there", listed, leading),
                  "leave one of the two out");
  }
  return listed;
}

/// Dense layers that lead, then many small experts and one for all tokens.
void read_fine_grained_experts(ObjectReader& reader, TransformerModel& model,
                               std::string_view experts_key = "n_routed_experts",
                               std::string_view shared_key = "n_shared_experts",
                               const ExpertKeys& keys = kUsualExpertKeys) {
  const std::int64_t expert_hidden =
      reader.integer("moe_intermediate_size", model_limits::kFfnHidden);
  MixtureOfExperts mixture = read_experts(reader, experts_key, expert_hidden, keys.per_token);
  mixture.shared_expert_hidden = given_count(reader, shared_key, between(0, 1000), 0) *
                                 given_count(reader, "moe_shared_expert_intermediate_size",
                                             model_limits::kSharedHidden, expert_hidden);
  mixture.leading_dense_layers = leading_dense_layers(reader, model.layers);
  mixture.interval = given_count(reader, "moe_layer_freq", model_limits::kLayers, 1);
  mixture.groups = given_count(reader, keys.groups, model_limits::kExpertGroups, 1);
  mixture.groups_per_token =
      given_count(reader, keys.groups_per_token, model_limits::kExpertGroups, mixture.groups);
  model.multi_token_prediction_layers =
      given_count(reader, "num_nextn_predict_layers", model_limits::kPredictionLayers, 0);
  set_experts(reader, model, mixture, keys);
}

/// GLM-4.5: DeepSeek's experts behind Llama's attention.
void read_glm4_moe(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = given_flag(reader, "attention_bias", false);
  read_query_key_norms(reader, model, "use_qk_norm", false);
  read_fine_grained_experts(reader, model);
}

void read_dots1(ObjectReader& reader, TransformerModel& model) {
  read_glm4_moe(reader, model);
  model.query_key_norms = QueryKeyNorms::each_head;
}

/// Ling, the first and 2.0.
void read_bailing(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_query_key_norms(reader, model, "use_qk_norm", false);
  model.qkv_bias = given_flag(reader, "use_qkv_bias", false);
  model.projection_bias = model.mlp_bias = given_flag(reader, "use_bias", false);
  read_fine_grained_experts(reader, model, "num_experts", "num_shared_experts");
}

/// Modules that predict further ahead, which the library does not build, are warned of as unread.
void read_minimax_m2(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_query_key_norms(reader, model, "use_qk_norm", true, QueryKeyNorms::all_heads);
  set_experts(reader, model, read_experts(reader, "num_local_experts", model.ffn_hidden));
}

/// A count of every layer: a number, or a list of one for each, which have to be alike; needed
/// where there is no `fallback`.
std::int64_t count_of_layers(ObjectReader& reader, std::string_view key, Range range,
                             std::int64_t layers, std::optional<std::int64_t> fallback = {}) {
  const std::optional<JsonCursor> value = given(reader.cursor(), key);
  if (!value && fallback) return *fallback;
  if (!value || !value->is_array()) return reader.integer(key, range);
  const auto counts = reader.integers(key, range, true);
  if (!counts) return static_cast<std::int64_t>(range.least);
  const auto other = std::ranges::adjacent_find(*counts, std::ranges::not_equal_to());
  if (std::ssize(*counts) != layers) {
    reader.report(key, "a list has a number for every layer",
                  fmt::format("{} for {} layers", counts->size(), layers),
                  "one number stands for all of them");
  } else if (other != counts->end()) {
    reader.report(key, "layers differ in it", fmt::format("{} and {}", *other, *(other + 1)),
                  "read are models whose layers are alike");
  }
  return counts->empty() ? static_cast<std::int64_t>(range.least) : counts->front();
}

/// Experts in every layer and a shared one, by lists of a number for each layer.
void read_hunyuan_moe(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_query_key_norms(reader, model, "use_qk_norm", true);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  static_cast<void>(given_count(reader, "attention_head_dim", model_limits::kHeadSize, 1));
  constexpr ExpertKeys kKeys{.per_token = "moe_topk"};
  const auto count = [&](std::string_view key, Range range,
                         std::optional<std::int64_t> fallback = {}) {
    return count_of_layers(reader, key, range, model.layers, fallback);
  };
  MixtureOfExperts mixture{
      .experts = count("num_experts", model_limits::kExperts),
      .experts_per_token = count(kKeys.per_token, model_limits::kExpertsPerToken, 1),
      .expert_hidden = count("moe_intermediate_size", model_limits::kFfnHidden, model.ffn_hidden)};
  mixture.shared_expert_hidden = model.ffn_hidden * count("num_shared_expert", between(0, 1000), 1);
  set_experts(reader, model, mixture, kKeys);
}

/// Layers without experts lead; the shared experts are as large as a routed one each.
void read_ernie_moe(ObjectReader& reader, TransformerModel& model) {
  read_ernie(reader, model);
  model.multi_token_prediction_layers =
      given_count(reader, "num_nextn_predict_layers", model_limits::kPredictionLayers, 0);
  const std::int64_t expert_hidden =
      reader.integer("moe_intermediate_size", model_limits::kFfnHidden);
  constexpr ExpertKeys kKeys{"moe_k", "moe_layer_start_index", "moe_layer_interval"};
  MixtureOfExperts mixture =
      read_experts(reader, "moe_num_experts", expert_hidden, kKeys.per_token);
  mixture.shared_expert_hidden =
      expert_hidden * given_count(reader, "moe_num_shared_experts", between(0, 1000), 2);
  mixture.leading_dense_layers =
      given_count(reader, kKeys.leading, model_limits::kLeadingLayers, 1);
  mixture.interval = given_count(reader, kKeys.interval, model_limits::kLayers, 1);
  set_experts(reader, model, mixture, kKeys);
}

/// What attention and experts are stands in an object each; a part that is left out is as in its
/// configuration class.
void read_dbrx(ObjectReader& reader, TransformerModel& model) {
  constexpr std::int64_t kExperts = 4;
  constexpr std::int64_t kHidden = 3584;
  MixtureOfExperts mixture{.experts = kExperts, .experts_per_token = 1, .expert_hidden = kHidden};
  constexpr ExpertKeys kKeys{.per_token = "moe_top_k"};
  model.kv_heads = 1;
  if (const auto part = given(reader.cursor(), "attn_config")) {
    ObjectReader attention(*part, reader.diagnostics());
    model.kv_heads = given_count(attention, "kv_n_heads", model_limits::kHeads, 1);
  }
  std::optional<JsonCursor> experts = given(reader.cursor(), "ffn_config");
  if (experts) {
    ObjectReader part(*experts, reader.diagnostics());
    mixture.experts = given_count(part, "moe_num_experts", model_limits::kExperts, kExperts);
    mixture.experts_per_token =
        given_count(part, kKeys.per_token, model_limits::kExpertsPerToken, 1);
    mixture.expert_hidden = given_count(part, "ffn_hidden_size", model_limits::kFfnHidden, kHidden);
  }
  read_llama_shape(reader, model, mixture.expert_hidden);
  model.normalization = Normalization::layer_norm;
  ObjectReader of_experts(experts.value_or(reader.cursor()), reader.diagnostics());
  set_experts(of_experts, model, mixture, kKeys);
}

constexpr FieldNames kDbrxNames{.layers = "n_layers",
                                .hidden = "d_model",
                                .attention_heads = "n_heads",
                                .sequence_length = "max_seq_len"};

}  // namespace

void set_latent_attention(TransformerModel& model, const LatentAttention& latent) {
  model.kv_heads = model.attention_heads;
  model.latent_attention = latent;
  model.head_size = latent.head_size_without_rotary + latent.rotary_head_size;
}

void read_deepseek(ObjectReader& reader, TransformerModel& model) {
  read_latent_layers(reader, model, "n_routed_experts", "n_shared_experts", kUsualExpertKeys);
}

void read_latent_layers(ObjectReader& reader, TransformerModel& model, std::string_view experts_key,
                        std::string_view shared_key, const ExpertKeys& keys) {
  read_llama_shape(reader, model);
  set_latent_attention(model, read_latent_attention(reader));
  read_fine_grained_experts(reader, model, experts_key, shared_key, keys);
}

namespace {

constexpr std::array<Family, 22> kExpertFamilies = {{
    {"mixtral", "MixtralForCausalLM", {}, read_mixtral, true},
    {"deepseek_v2", "DeepseekV2ForCausalLM", {}, read_deepseek, true},
    {"deepseek_v3", "DeepseekV3ForCausalLM", {}, read_deepseek, true},
    {"kimi_k2", "KimiK2ForCausalLM", {}, read_deepseek, true},
    {"qwen3_moe", "Qwen3MoeForCausalLM", {}, read_qwen3_moe, true},
    {"qwen2_moe", "Qwen2MoeForCausalLM", {}, read_qwen2_moe, true},
    {"olmoe", "OlmoeForCausalLM", {}, read_olmoe, true},
    {"phimoe", "PhimoeForCausalLM", {}, read_phimoe, true},
    {"glm4_moe", "Glm4MoeForCausalLM", {}, read_glm4_moe, true},
    {"gpt_oss", "GptOssForCausalLM", {}, read_gpt_oss, true},
    {"llama4", "Llama4ForConditionalGeneration", {}, read_llama4, true},
    {"llama4_text", "Llama4ForCausalLM", {}, read_llama4, true},
    {"grok-1", "Grok1ModelForCausalLM", {}, read_grok1, true},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", {}, read_qwen3_moe, true},
    {"minimax_m2", "MiniMaxM2ForCausalLM", {}, read_minimax_m2, true},
    {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", {}, read_ernie_moe, true},
    {"dots1", "Dots1ForCausalLM", {}, read_dots1, true},
    {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", {}, read_deepseek, true},
    {"deepseek", "DeepseekForCausalLM", {}, read_glm4_moe, true},
    {"bailing_moe", "BailingMoeV2ForCausalLM", {}, read_bailing, true},
    {"dbrx", "DbrxForCausalLM", kDbrxNames, read_dbrx, true},
    {"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", {}, read_hunyuan_moe, true},
}};

}  // namespace

std::span<const Family> expert_families() { return kExpertFamilies; }

}  // namespace headway
