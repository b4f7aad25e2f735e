#include "sim/models/transformer/model_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/models/transformer/layer_fields.h"

namespace headway {
namespace {

/// In doubles, which do not overflow: parameter_counts may be called only on what passes.
double approximate_parameters(const TransformerModel& model) {
  const double h = static_cast<double>(model.hidden);
  const double heads = 2.0 * static_cast<double>(model.attention_heads + model.kv_heads);
  const double mlp = model.gated_mlp ? 3.0 : 2.0;
  double inner = static_cast<double>(model.ffn_hidden);
  if (const auto& mixture = model.mixture_of_experts) {
    inner += static_cast<double>(mixture->experts) * static_cast<double>(mixture->expert_hidden) +
             static_cast<double>(mixture->shared_expert_hidden);
  }
  double layer = h * (heads * static_cast<double>(model.head_size) + mlp * inner);
  if (const auto& latent = model.latent_attention) {
    const auto ranks = static_cast<double>(latent->query_rank + latent->key_value_rank);
    layer += ranks * (h + static_cast<double>(model.attention_heads) *
                              static_cast<double>(model.head_size + latent->value_head_size));
  }
  if (const auto& space = model.state_space) {
    layer += 3.0 * h * static_cast<double>(space->heads) * static_cast<double>(space->head_size);
  }
  if (const auto& scan = model.selective_scan) {
    layer += static_cast<double>(scan->channels) *
             (3.0 * h + 2.0 * static_cast<double>(scan->step_rank) +
              3.0 * static_cast<double>(scan->state_size));
  }
  if (const auto& net = model.delta_net) {
    layer += h * 2.0 *
             (static_cast<double>(net->key_heads) * static_cast<double>(net->key_head_size) +
              static_cast<double>(net->value_heads) * static_cast<double>(net->value_head_size));
    layer += static_cast<double>(net->gate_rank) *
             (2.0 * h + static_cast<double>(net->value_heads) *
                            static_cast<double>(net->key_head_size + net->value_head_size));
  }
  if (model.short_convolution) layer += 4.0 * h * h;
  double tables = static_cast<double>(model.vocabulary) * (model.tied_embeddings ? 1.0 : 2.0);
  if (model.position_encoding == PositionEncoding::learned) {
    tables += static_cast<double>(model.sequence_length);
  }
  double tower = 0.0;
  if (const auto& vision = model.vision) {
    tower = static_cast<double>(vision->layers) * static_cast<double>(vision->hidden) *
            (4.0 * static_cast<double>(vision->hidden) +
             (vision->gated_mlp ? 3.0 : 2.0) * static_cast<double>(vision->ffn_hidden));
  }
  const double layers = static_cast<double>(model.layers + model.multi_token_prediction_layers);
  return layers * layer + tables * h + tower;
}

}  // namespace

TransformerModel read_model_fields(ObjectReader& reader) {
  TransformerModel model{.name = "unnamed model"};
  transformer_fields().read(reader, model);
  if (!reader.has("head_size") && !reader.has("latent_attention")) {
    model.head_size = default_head_size(model.hidden, model.attention_heads, reader, "hidden",
                                        "attention_heads", "head_size");
  }
  if (model.normalization == Normalization::rms_norm && model.normalization_bias) {
    reader.report("normalization_bias", "an RMS norm has no bias", "must be false",
                  "leave it out, or set \"normalization\" to \"layer_norm\"");
  }
  settle_layers(reader, model);
  return model;
}

std::int64_t default_head_size(std::int64_t hidden, std::int64_t attention_heads,
                               ObjectReader& reader, std::string_view hidden_key,
                               std::string_view heads_key, std::string_view head_size_key) {
  // Where one of the two could not be read, that is what has to be mended.
  if (reader.diagnostics().has_errors()) return 1;
  if (hidden % attention_heads == 0) return hidden / attention_heads;
  reader.report(heads_key, fmt::format("{} must divide {}", heads_key, hidden_key),
                fmt::format("{} does not divide {}", attention_heads, hidden),
                fmt::format("or name the size of a head: \"{}\"", head_size_key));
  return 1;
}

void check_heads(std::int64_t hidden, std::int64_t attention_heads, ObjectReader& reader) {
  if (hidden % attention_heads == 0) return;
  std::int64_t fewer = attention_heads;
  while (hidden % fewer != 0) --fewer;
  reader.report("attention_heads", "attention_heads must divide hidden",
                fmt::format("{} does not divide {}", attention_heads, hidden),
                fmt::format("use {} heads, say", fewer));
}

bool check_combinations(const TransformerModel& model, const JsonCursor& object,
                        std::string_view heads_key, std::string_view kv_heads_key,
                        Diagnostics& diagnostics) {
  const bool heads_divide = model.attention_heads % model.kv_heads == 0;
  if (!heads_divide) {
    const JsonCursor at = object.member(kv_heads_key).value_or(object);
    Diagnostic problem =
        at.problem("the key-value heads must divide the attention heads",
                   fmt::format("{} does not divide {}", model.kv_heads, model.attention_heads),
                   "grouped-query attention gives each key-value head as many attention heads");
    if (const auto heads = object.member(heads_key)) {
      problem.related.push_back({.location = heads->problem("").location,
                                 .pointer = heads->pointer(),
                                 .message = fmt::format("is {}", model.attention_heads)});
    }
    diagnostics.add(std::move(problem));
  }
  const double parameters = approximate_parameters(model);
  if (parameters <= model_limits::kMostParameters) return heads_divide;
  diagnostics.add(
      object.problem(fmt::format("the model is too large: about {:.1e} parameters", parameters),
                     fmt::format("at most {:.0e}", model_limits::kMostParameters)));
  return false;
}

nlohmann::json resolved_model(const TransformerModel& model) {
  TransformerModel written = model;
  written.normalization_bias &= model.normalization == Normalization::layer_norm;
  nlohmann::json resolved = *transformer_fields().written(written);
  resolved["schema"] = "headway/model/1";
  return resolved;
}

void check_predicted_words(std::int64_t predicted_words, std::int64_t sequence_length,
                           ObjectReader& reader) {
  if (predicted_words <= sequence_length) return;
  reader.report("predicted_words", "predicted_words must be at most sequence_length",
                fmt::format("{} of {}", predicted_words, sequence_length),
                "leave it out for all of them");
}

}  // namespace headway
