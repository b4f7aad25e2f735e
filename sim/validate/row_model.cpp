#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"
#include "sim/validate/validation_data.h"

namespace headway {

namespace {

/// Rows count the dense layers. As many as layers with experts: they alternate; fewer: they lead.
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

/// What a model is beyond the sizes that rows give (scenarios/validation/model_makeups.json): the
/// known one whose name the row's begins with, else what its gates let guess.
nlohmann::json makeup_of(const PublishedRow& row, std::vector<std::string>& assumed) {
  static const nlohmann::json models = validation_data("model_makeups.json", "models");
  static const nlohmann::json by_gates = validation_data("model_makeups.json", "by_gates");
  const std::string name = word(row.model, "name");
  const nlohmann::json& guess = by_gates.at(is_true(row.model, "gated") ? "gated" : "plain");
  const auto known = std::ranges::find_if(models, [&](const nlohmann::json& model) {
    return name.starts_with(model.at("name").get<std::string>());
  });
  if (known == models.end()) {
    assumed.emplace_back(
        "rotary positions and RMS norms where the MLP is gated, else learned "
        "positions and layer norms");
    return guess;
  }
  const bool gated = known->at("mlp") == "gated";
  if (known->at("mlp") != guess.at("mlp")) {
    assumed.push_back(fmt::format("an MLP {} gates, by the published configuration of {}",
                                  gated ? "with" : "without",
                                  known->at("name").get<std::string>()));
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
  const nlohmann::json makeup = makeup_of(row, assumed);
  nlohmann::json result = {
      {"schema", "headway/model/1"},
      {"name", word(model, "name").empty() ? row.head.id : word(model, "name")},
      {"source", row.head.source},
      {"layers", model.at("layers")},
      {"hidden", model.at("hidden")},
      {"attention_heads", model.at("heads")},
      {"kv_heads", model.at("kv_heads")},
      {"ffn_hidden", model.at("ffn")},
      {"vocabulary", model.at("vocab")},
      {"multi_token_prediction_layers", whole(model, "mtp_layers", 0)},
      {"sequence_length", model.at("seq")}};
  for (const char* key : {"mlp", "normalization", "position_encoding", "tied_embeddings"}) {
    result[key] = makeup.at(key);
  }
  for (const char* key : {"dropout", "query_key_norms"}) {
    if (makeup.contains(key)) result[key] = makeup.at(key);
  }
  if (is_given(model, "mla")) {
    result["latent_attention"] = latent_attention_of(model.at("mla"));
  } else {
    result["head_size"] = model.at("head_dim");
  }
  if (is_given(model, "moe")) result["mixture_of_experts"] = mixture_of(row);
  if (is_given(model, "window")) {
    assumed.emplace_back("a window in every second layer, and sinks");
    constexpr int kEverySecond = 2;
    result["sliding_window"] = {{"size", model.at("window")},
                                {"full_attention_interval", kEverySecond}};
    result["attention_sinks"] = true;
  }
  return result;
}

}  // namespace headway
