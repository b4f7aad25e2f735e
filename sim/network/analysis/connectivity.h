#pragma once

#include <optional>
#include <vector>

#include "sim/network/cluster.h"

namespace headway {

struct EndpointPair {
  VertexId a = -1;
  VertexId b = -1;
};

/// Which endpoints reach each other over the cables in service.
struct Connectivity {
  std::optional<EndpointPair> unconnected;  ///< two of a job's that do not, on the same rail
  bool rails_only = false;  ///< NICs of the same number reach each other, others do not
};

/// Which NICs of all nodes and ports of other hosts reach each other; those of other hosts do not
/// matter where rails are apart.
[[nodiscard]] Connectivity connectivity(const Cluster& cluster);

}  // namespace headway
