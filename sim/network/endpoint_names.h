#pragma once

#include "sim/network/topology.h"

namespace headway {

/// Adds the endpoints of a generated fabric, node by node: "node0/nic0", "node0/nic1", ... and
/// returns them.
std::vector<VertexId> add_endpoints(Topology& topology, int nodes, int nics);

}  // namespace headway
