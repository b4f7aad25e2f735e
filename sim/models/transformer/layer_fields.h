#pragma once

#include "sim/files/json_reader.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// Sets what follows from latent attention, the head size and the key-value heads, and reports
/// layers that do not go together.
void settle_layers(ObjectReader& reader, TransformerModel& model);

/// What the fields of a mixture are called.
struct ExpertKeys {
  std::string_view per_token = "experts_per_token";
  std::string_view leading = "leading_dense_layers";
  std::string_view interval = "interval";
  std::string_view groups = "groups";
  std::string_view groups_per_token = "groups_per_token";
};

/// Reports experts per token beyond the experts, or layers of which none has experts.
void check_experts(const MixtureOfExperts& mixture, std::int64_t layers, ObjectReader& reader,
                   const ExpertKeys& keys = {});

/// Reports a pattern that the model has no layers for, or parts of layers that no pattern names, at
/// `pattern_key`; heads that share out nothing evenly at their own fields.
void check_mixers(const TransformerModel& model, ObjectReader& reader,
                  std::string_view pattern_key);

}  // namespace headway
