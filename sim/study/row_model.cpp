#include "sim/study/row_fields.h"
#include "sim/study/row_parts.h"

namespace headway {

std::string uncovered_model(const PublishedRow& row) {
  if (is_given(row.model, "moe")) return "mixture-of-experts models are not modelled";
  if (is_given(row.model, "mla")) return "multi-head latent attention is not modelled";
  if (is_given(row.model, "window")) return "sliding-window attention is not modelled";
  return "";
}

nlohmann::json row_model(const PublishedRow& row, std::vector<std::string>& assumed) {
  const nlohmann::json& model = row.model;
  const bool gated = is_true(model, "gated");
  assumed.emplace_back(
      "rotary positions and RMS norms where the MLP is gated, else learned "
      "positions and layer norms");
  return {{"schema", "headway/model/1"},
          {"name", word(model, "name").empty() ? row.head.id : word(model, "name")},
          {"source", row.head.source},
          {"layers", model.at("layers")},
          {"hidden", model.at("hidden")},
          {"attention_heads", model.at("heads")},
          {"kv_heads", model.at("kv_heads")},
          {"head_size", model.at("head_dim")},
          {"ffn_hidden", model.at("ffn")},
          {"mlp", gated ? "gated" : "plain"},
          {"vocabulary", model.at("vocab")},
          {"tied_embeddings", !gated},
          {"normalization", gated ? "rms_norm" : "layer_norm"},
          {"position_encoding", gated ? "rotary" : "learned"},
          {"sequence_length", model.at("seq")}};
}

}  // namespace headway
