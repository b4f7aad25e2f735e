#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// Reads dumps of one InfiniBand subnet, in any order and gzipped or not: one of `ibnetdiscover`,
/// and any number with the forwarding tables of its switches (`dump_fts`, opensm-lfts.dump).
/// Without tables the fabric is routed by shortest paths. Makes a "headway/topology/1" object of a
/// graph, named `name`. What is assumed is a warning, and stands in the object's "source"; what
/// cannot be right is an error, and nothing is made.
///
/// `node`, if not empty, is the name of a node type. Without it every host has an accelerator for
/// each NIC.
[[nodiscard]] std::optional<nlohmann::json> import_infiniband(const std::vector<std::string>& paths,
                                                              const std::string& name,
                                                              const std::string& node,
                                                              Diagnostics& diagnostics);

}  // namespace headway
