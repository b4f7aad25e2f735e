#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/model/transformer.h"
#include "sim/strategy/strategy.h"
#include "sim/workload/exchange_plans.h"
#include "sim/workload/workload.h"

namespace headway {

/// What the exchanges inside layers put on each link in one iteration, in order of links: for every
/// layer of a stage and micro-batch what its forward and backward passes exchange, and what is
/// exchanged again where a forward pass is recomputed. Tokens are counted as if routed evenly; what
/// ranks that split an expert exchange beyond a scale-up domain is left out.
[[nodiscard]] std::vector<ChargedBytes> exchange_traffic(const TransformerModel& model,
                                                         const Strategy& strategy,
                                                         const Cluster& cluster,
                                                         const ExchangePlans& plans);

}  // namespace headway
