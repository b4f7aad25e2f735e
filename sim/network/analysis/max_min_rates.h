#pragma once

#include <span>
#include <vector>

#include "sim/network/routing/routing.h"

namespace headway {

/// What each flow gets if all run at once and share links max-min fairly (Bertsekas, Gallager, Data
/// Networks, 6.5.2). Flow i takes `share` of its rate on each link of `routes[i]`; links between
/// switches are filled up to `efficiency`. A flow without links gets 0.
[[nodiscard]] std::vector<BytesPerSecond> max_min_rates(
    const Topology& topology, std::span<const std::vector<LinkShare>> routes,
    double efficiency = 1.0);

}  // namespace headway
