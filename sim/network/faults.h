#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/base/diagnostic.h"
#include "sim/files/field_type.h"
#include "sim/network/cluster.h"

namespace headway {

/// Of an entry of "faults", for help and schema.
[[nodiscard]] std::vector<FieldDescription> fault_field_descriptions();

/// Reads the "faults" of a topology, cables, switches and NICs that are down and cables that run
/// slower, and applies them to the cluster's topology. An accelerator whose NIC is cut off sends by
/// another one of its node, which is a warning; a node without any NIC left is an error. Call
/// before the routing is built. Returns the faults as they were understood.
[[nodiscard]] nlohmann::json apply_faults(const JsonCursor& faults, Cluster& cluster,
                                          Diagnostics& diagnostics);

}  // namespace headway
