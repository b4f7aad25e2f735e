#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/files/field_type.h"

namespace headway {

/// Every field of scenarios, topologies and models, by its path from a scenario's root:
/// "strategy.tensor_parallel". Array elements are left out of the path.
[[nodiscard]] const std::vector<FieldDescription>& input_fields();

/// Kinds of files that editors have a schema for: "scenario", "topology", "node", "model",
/// "strategy".
[[nodiscard]] std::span<const std::string_view> schema_names();

/// The JSON Schema (2020-12) of such files. It knows fields, types, ranges and words; what fields
/// have to do with one another only readers know. Requires a name of `schema_names`.
[[nodiscard]] JsonValue file_schema(std::string_view name);

}  // namespace headway
