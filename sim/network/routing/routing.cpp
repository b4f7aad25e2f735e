#include "sim/network/routing/routing.h"

#include <fmt/format.h>

namespace headway {

UnreachableError::UnreachableError(const Topology& topology, VertexId source, VertexId destination)
    : std::runtime_error(
          fmt::format("no path from {} to {}", topology.name(source), topology.name(destination))),
      source_(source),
      destination_(destination) {}

}  // namespace headway
