#pragma once

#include <memory>

#include "sim/network/fabrics/fabric.h"
#include "sim/network/routing/routing.h"

namespace headway {

/// As many copies of a fabric's switches and cables as there are planes, which meet at the
/// endpoints only: port p of a NIC is on plane p. Vertices of the endpoints and the order of links
/// stay as they are in `plane`; those of plane p come after those of plane p - 1.
[[nodiscard]] Topology in_planes(const Topology& plane, int planes);

/// Routes on each of the planes alike; a flow is spread over them equally, as NCCL spreads it over
/// the ports of a NIC. Where the route on a plane crosses a cable that is down, the others carry
/// it. `topology` outlives the result.
[[nodiscard]] std::unique_ptr<const Routing> routing_in_planes(
    std::unique_ptr<const Topology> plane, std::unique_ptr<const Routing> routing,
    const Topology& topology);

}  // namespace headway
