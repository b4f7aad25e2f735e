#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/files/json_reader.h"
#include "sim/layers/model.h"

namespace headway {

/// A family of models that a "headway/model/1" object may name: reads its fields, problems going
/// into the reader's diagnostics, and gives layers. Requires nothing of the fields; after an error
/// the model is not used.
struct ModelFamily {
  std::string_view name;
  std::string_view what;  ///< "an encoder trained to fill in words"
  Model (*read)(ObjectReader& reader);
  /// Of what it reads, for help and schema.
  std::vector<FieldDescription> (*fields)();
};

/// All but the decoder-only transformer, which is what a model is if it names no family.
[[nodiscard]] std::span<const ModelFamily> model_families();

}  // namespace headway
