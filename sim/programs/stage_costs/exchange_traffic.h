#pragma once

#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/exchange_plans.h"
#include "sim/programs/workload.h"

namespace headway {

/// What the exchanges inside layers put on each link in one iteration, in order of links: for every
/// layer of a stage and micro-batch what its forward and backward passes exchange, and what is
/// exchanged again where a forward pass is recomputed. Tokens are counted as if routed evenly; what
/// ranks that split an expert exchange beyond a scale-up domain is left out.
[[nodiscard]] std::vector<ChargedBytes> exchange_traffic(const Model& model,
                                                         const Strategy& strategy,
                                                         const Cluster& cluster,
                                                         const ExchangePlans& plans);

}  // namespace headway
