#pragma once

#include <span>
#include <vector>

#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/exchange_kind.h"
#include "sim/programs/workload.h"

namespace headway {

struct Strategy;

/// The links that an exchange inside layers loads, for some groups together, by the routes of every
/// rank. Tensor-parallel ranks, and those that split an expert, run a ring on each rail: a byte of
/// the flow is one that a rank sends around it. Ring attention sends to the next rank: a byte that
/// it passes on. All-to-alls, and what tokens send their experts, go from every domain to every
/// other one on the rail of the receiver (NCCL's PXN; DeepSeek-V3, 2024, section 3.2.2), or spread
/// over all pairs of rails where they have not as many: a byte that a rank hands its group. Experts
/// send back what they were sent.
[[nodiscard]] FlowPlan exchange_plan(ExchangeKind kind, const Model& model,
                                     const Strategy& strategy, const Cluster& cluster,
                                     std::span<const std::vector<std::int32_t>> groups);

}  // namespace headway
