#pragma once

#include <optional>
#include <vector>

#include "sim/network/topology.h"

namespace headway {

/// Where a flow may go next. Implementations may be asked from several threads.
class PathChoices {
 public:
  virtual ~PathChoices() = default;

  /// Sets `links` to those from `at` that begin a path of least cost to `destination`, an endpoint
  /// or a switch, in an order that depends on nothing else; to nothing if there is no path.
  /// Requires at
  /// != destination.
  virtual void first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const = 0;

  /// As `Routing::route_class` has it, whichever of its first links a route takes each time, or if
  /// it takes all.
  [[nodiscard]] virtual std::optional<int> route_class(VertexId /*source*/,
                                                       VertexId /*destination*/) const {
    return std::nullopt;
  }
};

}  // namespace headway
