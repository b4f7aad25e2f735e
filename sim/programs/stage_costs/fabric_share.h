#pragma once

#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/exchange_plans.h"

namespace headway {

/// Of the rate of the NICs, what the fabric carries of the exchanges inside layers when all groups
/// of the job exchange at the same time, as they do in lockstep: in (0, 1], and 1 where a group
/// stays inside a scale-up domain or no link is narrower than the NICs that meet on it.
struct FabricShares {
  double tensor = 1.0;
  double context = 1.0;
  double experts = 1.0;
};

/// Takes the link that is longest busy: behind a leaf switch that is oversubscribed R to 1, 1/R of
/// the part of the bytes that leaves it.
[[nodiscard]] FabricShares fabric_shares(const ExchangePlans& plans, const Cluster& cluster);

}  // namespace headway
