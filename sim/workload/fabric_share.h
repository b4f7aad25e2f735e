#pragma once

#include "sim/cluster/cluster.h"
#include "sim/cluster/placement.h"
#include "sim/strategy/strategy.h"

namespace headway {

/// Of the rate of the NICs, what the fabric carries of the exchanges inside layers when all groups
/// of the job exchange at the same time, as they do in lockstep: in (0, 1], and 1 where a group
/// stays inside a scale-up domain or no link is narrower than the NICs that meet on it.
struct FabricShares {
  double tensor = 1.0;
  double context = 1.0;
  double experts = 1.0;
};

/// Follows the routes of every rank's exchanges and takes the link that is longest busy: behind a
/// leaf switch that is oversubscribed R to 1, 1/R of the part of the bytes that leaves it. Tensor-
/// parallel ranks run a ring on each rail; ring attention sends to the next rank; all-to-alls, and
/// what tokens send their experts, go to every domain on the rail of the receiver (NCCL's PXN;
/// DeepSeek-V3, 2024, section 3.2.2).
[[nodiscard]] FabricShares fabric_shares(const Strategy& strategy, const Cluster& cluster,
                                         const Placement& placement);

}  // namespace headway
