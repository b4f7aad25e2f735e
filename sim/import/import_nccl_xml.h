#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/import/import_format.h"
#include "sim/import/nccl_system.h"

namespace headway {

/// The node type that a topology of NCCL describes, or null with diagnostics.
[[nodiscard]] nlohmann::json nccl_node_type(const NcclSystem& system, const ImportRequest& request,
                                            const std::string& path, Diagnostics& diagnostics);

}  // namespace headway
