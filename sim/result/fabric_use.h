#pragma once

#include "sim/network/topology.h"
#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// What crossed the whole fabric in the iteration, summed between tiers. Cables that are down are
/// left out; those inside a tier (a torus, a dragonfly) count both directions as upward.
[[nodiscard]] FabricUse fabric_use(const Workload& workload, const Timeline& timeline,
                                   const Topology& topology);

}  // namespace headway
