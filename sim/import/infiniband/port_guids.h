#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/import/import_format.h"
#include "sim/import/infiniband/infiniband_fabric.h"

namespace headway {

/// The node type that hosts tell of themselves: topologies that NCCL dumped on some of them, whose
/// ports are looked up in the fabric by GUID. NCCL writes a GUID in the order of its bytes on the
/// wire or the other way round; both are tried. Null if there are no files, or with diagnostics:
/// hosts that differ, or a file none of whose ports is on the fabric.
[[nodiscard]] nlohmann::json node_type_of_hosts(const std::vector<std::string>& files,
                                                const ImportRequest& request,
                                                const InfiniBandFabric& fabric,
                                                Diagnostics& diagnostics);

}  // namespace headway
