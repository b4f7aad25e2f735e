#pragma once

#include <optional>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/network/cluster.h"

namespace headway {

struct ReadNodeType {
  NodeType type;
  int scale_up_domain = 1;  ///< accelerators
  JsonValue resolved;
};

/// Of such an object, for help and schema.
[[nodiscard]] std::vector<FieldDescription> node_field_descriptions();

/// Reads a "headway/node/1" object or the file of topologies/nodes/ that `part` names. Problems go
/// into the diagnostics of `files`; nothing if there were any.
[[nodiscard]] std::optional<ReadNodeType> read_node_type(const JsonCursor& part, InputFiles& files);

}  // namespace headway
