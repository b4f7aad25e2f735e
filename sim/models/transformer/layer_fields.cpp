#include "sim/models/transformer/layer_fields.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/vision_tower.h"

namespace headway {
namespace {

/// Fields that latent attention settles may only say the same.
void check_implied(ObjectReader& reader, std::string_view key, std::int64_t given,
                   std::int64_t implied, std::string_view rule) {
  if (given == implied) return;
  reader.report(key, fmt::format("with latent attention \"{}\" is {}", key, rule),
                fmt::format("{} instead of {}", given, implied), "leave it out");
}

void settle_heads(ObjectReader& reader, TransformerModel& model) {
  if (!model.latent_attention) return;
  check_implied(reader, "kv_heads", model.kv_heads, model.attention_heads, "attention_heads");
  const std::int64_t head_size =
      model.latent_attention->head_size_without_rotary + model.latent_attention->rotary_head_size;
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
      case half_layer::kSelectiveScan:
        if (model.selective_scan) continue;
        return "'S' is a selective scan, and the model has none";
      case half_layer::kDeltaNet:
        if (model.delta_net) continue;
        return "'D' is a delta net, and the model has none";
      case half_layer::kConvolution:
        if (model.short_convolution) continue;
        return "'C' is a short convolution, and the model has none";
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
                  "a letter a layer: M a state space, S a selective scan, D a delta net, C a short "
                  "convolution, * attention, - an MLP, E experts");
  };
  if (static_cast<std::int64_t>(model.layer_pattern.size()) != model.layers) {
    report("a pattern has as many letters as the model has layers",
           fmt::format("{} for {}", model.layer_pattern.size(), model.layers));
  } else if (const auto problem = letter_problem(model)) {
    report("a pattern names layers that the model has", *problem);
  } else if (model.sliding_window ||
             (model.delta_net && model.delta_net->full_attention_interval)) {
    report("a pattern says all of the order of layers",
           "a full_attention_interval does so where there is none");
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
  const auto check_used = [&](bool is_there, const char* key, const char* what, char letter) {
    if (!is_there || has_letter(model, letter)) return;
    reader.report(key, fmt::format("no layer would have a {}", what), "",
                  fmt::format("give \"layer_pattern\", whose letter {} stands for one, or leave it "
                              "out",
                              letter));
  };
  check_used(model.state_space.has_value(), "state_space", "state space", half_layer::kStateSpace);
  check_used(model.selective_scan.has_value(), "selective_scan", "selective scan",
             half_layer::kSelectiveScan);
  check_used(model.short_convolution.has_value(), "short_convolution", "short convolution",
             half_layer::kConvolution);
  check_used(model.delta_net && !model.layer_pattern.empty(), "delta_net", "delta net",
             half_layer::kDeltaNet);
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
  if (model.query_key_norms != QueryKeyNorms::none && model.latent_attention) {
    reader.report("query_key_norms", "latent attention has norms of its own",
                  "of what queries, keys and values are made of", "leave it out");
  }
  if (model.attention_gate && model.latent_attention) {
    reader.report("attention_gate", "latent attention has no gate", "", "leave it out");
  }
}

void settle_layers(ObjectReader& reader, TransformerModel& model) {
  settle_heads(reader, model);
  if (reader.diagnostics().has_errors()) return;
  if (model.mixture_of_experts) {
    ObjectReader experts(*reader.part("mixture_of_experts"), reader.diagnostics());
    check_experts(*model.mixture_of_experts, model.layers, experts);
  }
  if (model.vision) {
    ObjectReader tower(*reader.part("vision"), reader.diagnostics());
    check_vision_tower(tower, *model.vision);
  }
  check_mixers(model, reader, "layer_pattern");
}

namespace {

void check_groups(const MixtureOfExperts& mixture, ObjectReader& reader, const ExpertKeys& keys) {
  if (mixture.experts % mixture.groups != 0) {
    reader.report(keys.groups, "groups have to have equally many experts",
                  fmt::format("{} experts", mixture.experts), "use a divisor of the experts");
    return;
  }
  if (mixture.groups_per_token > mixture.groups) {
    reader.report(keys.groups_per_token, "a token cannot choose among more groups than there are",
                  fmt::format("{} of {}", mixture.groups_per_token, mixture.groups),
                  fmt::format("use at most {}", mixture.groups));
    return;
  }
  const std::int64_t of_group = mixture.experts / mixture.groups;
  if (mixture.experts_per_token <= of_group * mixture.groups_per_token) return;
  reader.report(keys.groups_per_token, "the groups of a token have fewer experts than it goes to",
                fmt::format("{} experts each, {} for a token", of_group, mixture.experts_per_token),
                "let it choose among more groups");
}

}  // namespace

void check_experts(const MixtureOfExperts& mixture, std::int64_t layers, ObjectReader& reader,
                   const ExpertKeys& keys) {
  if (mixture.experts_per_token > mixture.experts) {
    reader.report(keys.per_token, "a token cannot go to more experts than there are",
                  fmt::format("{} of {}", mixture.experts_per_token, mixture.experts),
                  fmt::format("use at most {}", mixture.experts));
  }
  if (mixture.groups > 1 || mixture.groups_per_token > 1) check_groups(mixture, reader, keys);
  if (mixture.leading_dense_layers + mixture.interval <= layers) return;
  const bool all_lead = mixture.leading_dense_layers >= layers;
  reader.report(all_lead ? keys.leading : keys.interval, "no layer would have experts",
                fmt::format("the first one would be layer {} of {}",
                            mixture.leading_dense_layers + mixture.interval, layers),
                "lower it, or leave the experts out");
}

}  // namespace headway
