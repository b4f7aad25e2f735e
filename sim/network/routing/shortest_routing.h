#pragma once

#include <memory>

#include "sim/network/routing/routing.h"

namespace headway {

/// One shortest path for each pair of endpoints, spread over equal ones by the destination.
/// `topology` outlives the result.
[[nodiscard]] std::unique_ptr<const Routing> shortest_routing(const Topology& topology);

}  // namespace headway
