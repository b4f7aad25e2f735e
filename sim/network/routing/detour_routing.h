#pragma once

#include <memory>

#include "sim/network/routing/routing.h"

namespace headway {

/// What a fabric manager does about cables that are down: where the route of `routing` crosses one,
/// the flow takes a shortest path of those that are left. `topology` outlives the result.
[[nodiscard]] std::unique_ptr<const Routing> with_detours(std::unique_ptr<const Routing> routing,
                                                          const Topology& topology);

}  // namespace headway
