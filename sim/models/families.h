#pragma once

#include <span>
#include <string_view>

#include "sim/files/json_reader.h"
#include "sim/layers/model.h"

namespace headway {

/// A family of models that a "headway/model/1" object may name: reads its fields, problems going
/// into the reader's diagnostics, and gives layers. Requires nothing of the fields; after an error
/// the model is not used.
struct ModelFamily {
  std::string_view name;
  Model (*read)(ObjectReader& reader);
};

/// All but the decoder-only transformer, which is what a model is if it names no family.
[[nodiscard]] std::span<const ModelFamily> model_families();

// A file each.
[[nodiscard]] Model read_bert(ObjectReader& reader);
[[nodiscard]] Model read_resnet(ObjectReader& reader);
[[nodiscard]] Model read_layer_list(ObjectReader& reader);

}  // namespace headway
