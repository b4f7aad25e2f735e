#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/files/json_value.h"
#include "sim/import/infiniband/forwarding_dump.h"
#include "sim/import/infiniband/infiniband_fabric.h"

namespace headway {

/// What the topology object says beyond the dumps.
struct InfiniBandGraphTexts {
  std::string name;
  JsonValue node;  ///< a node type or the name of one; null assumes one
  std::string source;   ///< the file that the fabric was read from
};

/// The topology object of a fabric as it was discovered, with the forwarding tables of its switches
/// (shortest paths if there are none). Switches come in the order of their GUIDs, hosts in that of
/// their names. Assumptions are warnings; a fabric that contradicts itself is an error.
[[nodiscard]] nlohmann::json infiniband_graph(const InfiniBandGraphTexts& texts,
                                              const InfiniBandFabric& fabric,
                                              const ForwardingTables& tables,
                                              Diagnostics& diagnostics);

}  // namespace headway
