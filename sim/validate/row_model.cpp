#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"

namespace headway {

namespace {

/// Rows count the dense layers. As many as layers with experts: they alternate (Llama 4); fewer:
/// they lead (DeepSeek).
nlohmann::json mixture_of(const PublishedRow& row) {
  const nlohmann::json& moe = row.model->at("moe");
  const std::int64_t dense = whole(moe, "dense_layers", 0);
  const bool alternates = dense > 0 && 2 * dense == whole(row.model, "layers", 0);
  return {{"experts", moe.at("experts")},
          {"experts_per_token", moe.at("topk")},
          {"expert_hidden", moe.at("moe_ffn")},
          {"shared_expert_hidden", whole(moe, "shared_ffn", 0)},
          {"leading_dense_layers", alternates ? 0 : dense},
          {"interval", alternates ? 2 : 1}};
}

nlohmann::json latent_attention_of(const nlohmann::json& mla) {
  return {{"query_rank", mla.at("q_lora")},
          {"key_value_rank", mla.at("kv_lora")},
          {"head_size_without_rotary", mla.at("qk_nope")},
          {"rotary_head_size", mla.at("qk_rope")},
          {"value_head_size", mla.at("v")}};
}

/// What a model is beyond the sizes that rows give.
struct ModelMakeup {
  std::string_view name;  ///< what the names of its sizes begin with; "" is any
  bool gated;
  std::string_view normalization;
  std::string_view positions;
  bool tied;
};

/// The makeup that rows of other models let guess: those with gates are Llama's kin, those without
/// GPT's.
constexpr ModelMakeup kLlamaKin{"", true, "rms_norm", "rotary", false};
constexpr ModelMakeup kGptKin{"", false, "layer_norm", "learned", true};

// Models known to be neither, or (InternLM) that the collection calls without gates. InternLM 7B's
// published configuration (internlm/internlm-7b: hidden_act silu, intermediate_size 11008) is
// Llama's, and so are the 44.6 GFLOP a token that its throughput tables come to (183 TFLOP/s at
// 4,103 tokens/s; 35 without gates). Nemotron-4: Parmar et al. 2024, section 2. Pythia: Biderman et
// al. 2023, section 2.1.
constexpr std::array kModels{
    ModelMakeup{"InternLM 7B", true, "rms_norm", "rotary", false},
    ModelMakeup{"Nemotron", false, "layer_norm", "rotary", false},
    ModelMakeup{"Pythia", false, "layer_norm", "rotary", false},
};

const ModelMakeup& makeup_of(const PublishedRow& row, std::vector<std::string>& assumed) {
  const std::string name = word(row.model, "name");
  const bool gated = is_true(row.model, "gated");
  const auto* const known = std::ranges::find_if(
      kModels, [&](const ModelMakeup& model) { return name.starts_with(model.name); });
  if (known == kModels.end()) {
    assumed.emplace_back(
        "rotary positions and RMS norms where the MLP is gated, else learned "
        "positions and layer norms");
    return gated ? kLlamaKin : kGptKin;
  }
  if (known->gated != gated) {
    assumed.push_back(fmt::format("an MLP {} gates, by the published configuration of {}",
                                  known->gated ? "with" : "without", known->name));
  }
  return *known;
}

}  // namespace

std::string uncovered_model(const PublishedRow& row) {
  for (const char* key : {"experts", "topk", "moe_ffn"}) {
    if (is_given(row.model, "moe") && !is_given(row.model->at("moe"), key)) {
      return fmt::format("the mixture of experts lacks \"{}\"", key);
    }
  }
  for (const char* key : {"q_lora", "kv_lora", "qk_nope", "qk_rope", "v"}) {
    if (is_given(row.model, "mla") && !is_given(row.model->at("mla"), key)) {
      return fmt::format("the latent attention lacks \"{}\"", key);
    }
  }
  return "";
}

nlohmann::json row_model(const PublishedRow& row, std::vector<std::string>& assumed) {
  const nlohmann::json& model = row.model;
  const ModelMakeup& makeup = makeup_of(row, assumed);
  nlohmann::json result = {
      {"schema", "headway/model/1"},
      {"name", word(model, "name").empty() ? row.head.id : word(model, "name")},
      {"source", row.head.source},
      {"layers", model.at("layers")},
      {"hidden", model.at("hidden")},
      {"attention_heads", model.at("heads")},
      {"kv_heads", model.at("kv_heads")},
      {"ffn_hidden", model.at("ffn")},
      {"mlp", makeup.gated ? "gated" : "plain"},
      {"vocabulary", model.at("vocab")},
      {"tied_embeddings", makeup.tied},
      {"normalization", makeup.normalization},
      {"position_encoding", makeup.positions},
      {"multi_token_prediction_layers", whole(model, "mtp_layers", 0)},
      {"sequence_length", model.at("seq")}};
  if (is_given(model, "mla")) {
    result["latent_attention"] = latent_attention_of(model.at("mla"));
  } else {
    result["head_size"] = model.at("head_dim");
  }
  if (is_given(model, "moe")) result["mixture_of_experts"] = mixture_of(row);
  if (is_given(model, "window")) {
    assumed.emplace_back("a window in every second layer, and sinks, as in gpt-oss");
    constexpr int kEverySecond = 2;
    result["sliding_window"] = {{"size", model.at("window")},
                                {"full_attention_interval", kEverySecond}};
    result["attention_sinks"] = true;
  }
  return result;
}

}  // namespace headway
