#pragma once

#include <optional>
#include <vector>

#include "sim/jobs/synchronisation/synchronisation.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/kind_network.h"
#include "sim/programs/layout/communicator_prices.h"
#include "sim/programs/stage_program.h"
#include "sim/programs/workload.h"

namespace headway {

/// A job on its cluster before anybody has a program: rank groups with the ways between them, and
/// what they may join.
struct JobLayout {
  Workload workload;                               ///< without programs
  std::vector<CommunicatorPrices::Joined> joined;  ///< by rank group
  CommunicatorPrices prices;
  std::vector<ReplicaExchange> exchanged;  ///< of what replicas learned
  bool overruled = false;  ///< some collective does not have the algorithm that was asked for
};

/// Every replica, or with `PlanDetail::idle_nic` one of those that stand alike. Of a job with
/// servers no more than what its ranks share. Gradients run as `algorithm` where their collective
/// has it and one is asked for. Nothing of the job counts but its model, its strategy and its
/// `layers_of_chunk`.
[[nodiscard]] JobLayout laid_out(const JobShape& job, const Cluster& cluster,
                                 const Placement& placement, const KindNetwork& network,
                                 const ExchangeLayout& exchanges,
                                 std::optional<CollectiveAlgorithm> algorithm);

}  // namespace headway
