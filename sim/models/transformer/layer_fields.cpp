#include "sim/models/transformer/layer_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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

SparseAttention read_sparse(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  SparseAttention sparse;
  sparse.positions = reader.integer("positions", model_limits::kSequenceLength);
  sparse.index_heads = reader.integer("index_heads", model_limits::kHeads);
  sparse.index_head_size = reader.integer("index_head_size", model_limits::kHeadSize);
  reader.finish();
  return sparse;
}

StateSpace read_state_space(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  StateSpace space;
  space.heads = reader.integer("heads", model_limits::kHeads);
  space.head_size = reader.integer("head_size", model_limits::kHeadSize);
  space.state_size = reader.integer("state_size", model_limits::kStateSize);
  space.groups = reader.integer("groups", model_limits::kHeads, space.groups);
  space.convolution = reader.integer("convolution", model_limits::kConvolution, space.convolution);
  space.chunk = reader.integer("chunk", model_limits::kChunk, space.chunk);
  reader.finish();
  return space;
}

DeltaNet read_delta_net(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  DeltaNet net;
  net.key_heads = reader.integer("key_heads", model_limits::kHeads);
  net.value_heads = reader.integer("value_heads", model_limits::kHeads, net.key_heads);
  net.key_head_size = reader.integer("key_head_size", model_limits::kHeadSize);
  net.value_head_size =
      reader.integer("value_head_size", model_limits::kHeadSize, net.key_head_size);
  net.convolution = reader.integer("convolution", model_limits::kConvolution, net.convolution);
  net.chunk = reader.integer("chunk", model_limits::kChunk, net.chunk);
  if (reader.has("full_attention_interval")) {
    net.full_attention_interval =
        reader.integer("full_attention_interval", model_limits::kFullAttentionInterval);
  }
  reader.finish();
  return net;
}

/// Fields that latent attention settles may only say the same.
void check_implied(ObjectReader& reader, std::string_view key, std::int64_t given,
                   std::int64_t implied, std::string_view rule) {
  if (given == implied) return;
  reader.report(key, fmt::format("with latent attention \"{}\" is {}", key, rule),
                fmt::format("{} instead of {}", given, implied), "leave it out");
}

void read_latent_fields(ObjectReader& reader, TransformerModel& model) {
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

/// The first letter that stands for what the model does not have, or for nothing.
std::optional<std::string> letter_problem(const TransformerModel& model) {
  for (const char letter : model.layer_pattern) {
    switch (letter) {
      case half_layer::kAttention:
      case half_layer::kMlp:
        continue;
      case half_layer::kStateSpace:
        if (model.state_space) continue;
        return "'M' is a state space, and the model has none";
      case half_layer::kExperts:
        if (model.mixture_of_experts) continue;
        return "'E' are experts, and the model has none";
      default:
        return fmt::format("'{}' is no layer", letter);
    }
  }
  return std::nullopt;
}

bool has_letter(const TransformerModel& model, char letter) {
  return model.layer_pattern.find(letter) != std::string::npos;
}

void check_pattern(const TransformerModel& model, ObjectReader& reader,
                   std::string_view pattern_key) {
  const auto report = [&](const std::string& what, const std::string& why) {
    reader.report(pattern_key, what, why,
                  "a letter a layer: M a state space, * attention, - an MLP, E experts");
  };
  if (static_cast<std::int64_t>(model.layer_pattern.size()) != model.layers) {
    report("a pattern has as many letters as the model has layers",
           fmt::format("{} for {}", model.layer_pattern.size(), model.layers));
  } else if (const auto problem = letter_problem(model)) {
    report("a pattern names layers that the model has", *problem);
  } else if (model.delta_net || model.sliding_window) {
    report("a pattern says all of the order of layers",
           "a delta net and windows come at intervals of their own");
  } else if (model.mixture_of_experts && !has_letter(model, half_layer::kExperts)) {
    report("no layer would have experts", "");
  } else if (model.mixture_of_experts && (model.mixture_of_experts->leading_dense_layers != 0 ||
                                          model.mixture_of_experts->interval != 1)) {
    report("a pattern says which layers have experts",
           "leading_dense_layers and interval do so where there is none");
  }
}

void check_multiple(ObjectReader& reader, std::string_view key, std::int64_t heads,
                    std::int64_t groups) {
  if (heads % groups == 0) return;
  reader.report(key, "its heads must be a multiple of those that share",
                fmt::format("{} does not divide {}", groups, heads), "");
}

}  // namespace

void check_mixers(const TransformerModel& model, ObjectReader& reader,
                  std::string_view pattern_key) {
  if (!model.layer_pattern.empty()) check_pattern(model, reader, pattern_key);
  if (model.state_space && !has_letter(model, half_layer::kStateSpace)) {
    reader.report("state_space", "no layer would have a state space", "",
                  "give \"layer_pattern\", whose letter M stands for one, or leave it out");
  }
  if (const auto& space = model.state_space) {
    check_multiple(reader, "state_space", space->heads, space->groups);
  }
  if (const auto& net = model.delta_net) {
    check_multiple(reader, "delta_net", net->value_heads, net->key_heads);
  }
  if (model.sparse_attention &&
      (!model.latent_attention || model.latent_attention->query_rank == 0)) {
    reader.report("sparse_attention", "sparse attention needs latent attention",
                  "its indexer takes the narrow layer of the queries",
                  "give \"latent_attention\" with a \"query_rank\", or leave it out");
  }
  if (model.attention_gate && model.latent_attention) {
    reader.report("attention_gate", "latent attention has no gate", "", "leave it out");
  }
}

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
  model.attention_gate = reader.flag("attention_gate", false);
  model.layer_pattern = reader.text("layer_pattern", "");
  if (const auto part = reader.part("state_space")) {
    model.state_space = read_state_space(*part, reader.diagnostics());
  }
  if (const auto part = reader.part("delta_net")) {
    model.delta_net = read_delta_net(*part, reader.diagnostics());
  }
  if (const auto part = reader.part("sparse_attention")) {
    model.sparse_attention = read_sparse(*part, reader.diagnostics());
  }
  read_latent_fields(reader, model);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_pattern");
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
  resolved["attention_gate"] = model.attention_gate;
  if (!model.layer_pattern.empty()) resolved["layer_pattern"] = model.layer_pattern;
  if (const auto& sparse = model.sparse_attention) {
    resolved["sparse_attention"] = {{"positions", sparse->positions},
                                    {"index_heads", sparse->index_heads},
                                    {"index_head_size", sparse->index_head_size}};
  }
  if (const auto& space = model.state_space) {
    resolved["state_space"] = {{"heads", space->heads},   {"head_size", space->head_size},
                               {"groups", space->groups}, {"state_size", space->state_size},
                               {"chunk", space->chunk},   {"convolution", space->convolution}};
  }
  if (const auto& net = model.delta_net) {
    nlohmann::json& out = resolved["delta_net"];
    out = {{"key_heads", net->key_heads},         {"value_heads", net->value_heads},
           {"key_head_size", net->key_head_size}, {"value_head_size", net->value_head_size},
           {"convolution", net->convolution},     {"chunk", net->chunk}};
    if (net->full_attention_interval > 0) {
      out["full_attention_interval"] = net->full_attention_interval;
    }
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
