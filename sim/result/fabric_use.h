#pragma once

#include <span>

#include "sim/network/topology.h"
#include "sim/programs/perturbation/slowdowns.h"
#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// What crossed the whole fabric in the iteration, summed between tiers. Cables that are down are
/// left out; those inside a tier (a torus, a dragonfly) count both directions as upward. Links that
/// `episodes` slow down count as what these leave of them on average.
[[nodiscard]] FabricUse fabric_use(const Workload& workload, const Timeline& timeline,
                                   const Topology& topology,
                                   std::span<const LinkEpisode> episodes = {});

}  // namespace headway
