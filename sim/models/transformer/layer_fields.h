#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/files/json_reader.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// Reads what sets layers apart from those of a plain dense model: "mixture_of_experts",
/// "latent_attention", "sparse_attention", "sliding_window", "state_space", "delta_net",
/// "layer_pattern", "attention_gate", "attention_sinks" and "multi_token_prediction_layers" of a
/// "headway/model/1" object. All may be left out. With latent attention the head size and the
/// key-value heads follow from it. Requires that `model` has its layers, hidden size and heads.
void read_layer_fields(ObjectReader& reader, TransformerModel& model);

/// Reports experts per token beyond the experts, or layers of which none has experts.
void check_experts(const MixtureOfExperts& mixture, std::int64_t layers, ObjectReader& reader,
                   std::string_view experts_per_token_key);

/// Reports a pattern that the model has no layers for, or parts of layers that no pattern names, at
/// `pattern_key`; heads that share out nothing evenly at their own fields.
void check_mixers(const TransformerModel& model, ObjectReader& reader,
                  std::string_view pattern_key);

/// Writes out those that the model has, as they are read back.
void resolve_layer_fields(const TransformerModel& model, nlohmann::json& resolved);

}  // namespace headway
