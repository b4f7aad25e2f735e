#include "sim/models/transformer/layer_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

MixtureOfExperts read_mixture(const JsonCursor& part, std::int64_t layers,
                              Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  const std::size_t before = diagnostics.all().size();
  MixtureOfExperts mixture;
  mixture.experts = reader.integer("experts", model_limits::kExperts);
  mixture.experts_per_token = reader.integer("experts_per_token", model_limits::kExpertsPerToken);
  mixture.expert_hidden = reader.integer("expert_hidden", model_limits::kFfnHidden);
  mixture.shared_expert_hidden = reader.integer("shared_expert_hidden", model_limits::kSharedHidden,
                                                mixture.shared_expert_hidden);
  mixture.leading_dense_layers = reader.integer(
      "leading_dense_layers", model_limits::kLeadingLayers, mixture.leading_dense_layers);
  mixture.interval = reader.integer("interval", model_limits::kLayers, mixture.interval);
  if (diagnostics.all().size() == before) {
    check_experts(mixture, layers, reader, "experts_per_token");
  }
  reader.finish();
  return mixture;
}

LatentAttention read_latent(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  LatentAttention latent;
  latent.query_rank = reader.integer("query_rank", model_limits::kQueryRank, latent.query_rank);
  latent.key_value_rank = reader.integer("key_value_rank", model_limits::kHidden);
  latent.head_size_without_rotary =
      reader.integer("head_size_without_rotary", model_limits::kHeadSize);
  latent.rotary_head_size = reader.integer("rotary_head_size", model_limits::kHeadSize);
  latent.value_head_size = reader.integer("value_head_size", model_limits::kHeadSize);
  reader.finish();
  return latent;
}

SlidingWindow read_window(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  SlidingWindow window;
  window.size = reader.integer("size", model_limits::kSequenceLength);
  if (reader.has("full_attention_interval")) {
    window.full_attention_interval =
        reader.integer("full_attention_interval", model_limits::kFullAttentionInterval);
  }
  reader.finish();
  return window;
}

/// Fields that latent attention settles may only say the same.
void check_implied(ObjectReader& reader, std::string_view key, std::int64_t given,
                   std::int64_t implied, std::string_view rule) {
  if (given == implied) return;
  reader.report(key, fmt::format("with latent attention \"{}\" is {}", key, rule),
                fmt::format("{} instead of {}", given, implied), "leave it out");
}

}  // namespace

void read_layer_fields(ObjectReader& reader, TransformerModel& model) {
  if (const auto part = reader.part("mixture_of_experts")) {
    model.mixture_of_experts = read_mixture(*part, model.layers, reader.diagnostics());
  }
  if (const auto part = reader.part("sliding_window")) {
    model.sliding_window = read_window(*part, reader.diagnostics());
  }
  model.attention_sinks = reader.flag("attention_sinks", false);
  model.multi_token_prediction_layers =
      reader.integer("multi_token_prediction_layers", model_limits::kPredictionLayers, 0);
  const auto part = reader.part("latent_attention");
  if (!part) return;
  const LatentAttention latent = read_latent(*part, reader.diagnostics());
  model.latent_attention = latent;
  check_implied(reader, "kv_heads", model.kv_heads, model.attention_heads, "attention_heads");
  const std::int64_t head_size = latent.head_size_without_rotary + latent.rotary_head_size;
  if (reader.has("head_size")) {
    check_implied(reader, "head_size", model.head_size, head_size,
                  "head_size_without_rotary + rotary_head_size");
  }
  model.head_size = head_size;
}

void check_experts(const MixtureOfExperts& mixture, std::int64_t layers, ObjectReader& reader,
                   std::string_view experts_per_token_key) {
  if (mixture.experts_per_token > mixture.experts) {
    reader.report(experts_per_token_key, "a token cannot go to more experts than there are",
                  fmt::format("{} of {}", mixture.experts_per_token, mixture.experts),
                  fmt::format("use at most {}", mixture.experts));
  }
  if (mixture.leading_dense_layers + mixture.interval <= layers) return;
  const bool all_lead = mixture.leading_dense_layers >= layers;
  reader.report(all_lead ? "leading_dense_layers" : "interval", "no layer would have experts",
                fmt::format("the first one would be layer {} of {}",
                            mixture.leading_dense_layers + mixture.interval, layers),
                "lower it, or leave the experts out");
}

void resolve_layer_fields(const TransformerModel& model, nlohmann::json& resolved) {
  resolved["attention_sinks"] = model.attention_sinks;
  resolved["multi_token_prediction_layers"] = model.multi_token_prediction_layers;
  if (const auto& mixture = model.mixture_of_experts) {
    resolved["mixture_of_experts"] = {{"experts", mixture->experts},
                                      {"experts_per_token", mixture->experts_per_token},
                                      {"expert_hidden", mixture->expert_hidden},
                                      {"shared_expert_hidden", mixture->shared_expert_hidden},
                                      {"leading_dense_layers", mixture->leading_dense_layers},
                                      {"interval", mixture->interval}};
  }
  if (const auto& latent = model.latent_attention) {
    resolved["latent_attention"] = {{"query_rank", latent->query_rank},
                                    {"key_value_rank", latent->key_value_rank},
                                    {"head_size_without_rotary", latent->head_size_without_rotary},
                                    {"rotary_head_size", latent->rotary_head_size},
                                    {"value_head_size", latent->value_head_size}};
  }
  if (const auto& window = model.sliding_window) {
    nlohmann::json& out = resolved["sliding_window"];
    out = {{"size", window->size}};
    if (window->full_attention_interval > 0) {
      out["full_attention_interval"] = window->full_attention_interval;
    }
  }
}

}  // namespace headway
