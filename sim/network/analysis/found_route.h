#pragma once

#include <optional>
#include <vector>

#include "sim/network/cluster.h"

namespace headway {

/// The way of a flow through a fabric that nobody else uses.
struct FoundRoute {
  VertexId source = -1;
  VertexId destination = -1;
  std::optional<std::vector<LinkShare>> hops;  ///< nothing if there is no way
  BytesPerSecond rate;                         ///< what the flow gets
  Seconds latency;  ///< on average over the parts of a flow that takes several paths
};

/// Follows the routing from one endpoint to another.
[[nodiscard]] FoundRoute found_route(const Cluster& cluster, VertexId source, VertexId destination);

}  // namespace headway
