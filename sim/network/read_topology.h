#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/network/cluster.h"

namespace headway {

struct ReadTopology {
  std::shared_ptr<const Cluster> cluster;
  JsonCursor cursor;
  JsonValue resolved;  ///< every field, defaults written out; not the explicit graph
};

/// Of such an object, with all that it is made of, for help and schema.
[[nodiscard]] std::vector<FieldDescription> topology_field_descriptions();

/// Reads a "headway/topology/1" object or the file that `part` names, and builds it.
/// `nodes` overrides the number of nodes that the file gives (a scenario that uses fewer or more of
/// a generated fabric); nothing keeps the file's. What the file expects of its own size ("expect")
/// is not checked then. Problems go into the diagnostics of `files`; nothing if there were any.
[[nodiscard]] std::optional<ReadTopology> read_topology(const JsonCursor& part, InputFiles& files,
                                                        std::optional<int> nodes = std::nullopt);

}  // namespace headway
