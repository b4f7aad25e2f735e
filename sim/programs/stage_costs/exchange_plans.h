#pragma once

#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/workload.h"

namespace headway {

/// The links that exchanges inside layers load, all groups of a pipeline stage together: a plan a
/// stage, or none where the groups stay inside scale-up domains.
struct ExchangePlans {
  std::vector<FlowPlan> tensor;
  /// For a byte that a rank passes on, or hands its group to be swapped.
  std::vector<FlowPlan> context;
  std::vector<FlowPlan> experts;
};

/// Follows the routes of every rank. Tensor-parallel ranks run a ring on each rail; ring attention
/// sends to the next rank; all-to-alls, and what tokens send their experts, go to every domain on
/// the rail of the receiver (NCCL's PXN; DeepSeek-V3, 2024, section 3.2.2), each rank of the group
/// 1/ranks of the bytes to each, itself included.
[[nodiscard]] ExchangePlans exchange_plans(const Strategy& strategy, const Cluster& cluster,
                                           const Placement& placement);

}  // namespace headway
