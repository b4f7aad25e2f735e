#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/costs/collective_cost.h"
#include "sim/costs/profile.h"
#include "sim/network/cluster.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {

/// Whose costs a collective is charged.
enum class CollectiveCosts {
  hardware,  ///< links and their latencies alone
  profile,   ///< what a profile knows of each scope
  nccl       ///< NCCL's protocols: sim/programs/flows/nccl_costs.h
};

/// A collective, and on whose costs it runs.
struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<CollectiveAlgorithm> algorithm;  ///< nothing: the faster one for each size
  int ranks = 0;                                 ///< the first ones of the cluster; at least 2
  /// That run it at the same time, `ranks / groups` ranks each; divides `ranks` and leaves each at
  /// least 2.
  int groups = 1;
  bool is_interleaved = false;  ///< rank r is in group r mod groups; else groups are consecutive
  CollectiveCosts costs = CollectiveCosts::hardware;
  const Profile* profile = nullptr;  ///< with `profile`
  /// All-to-all and send_receive hand what is for another rail to the accelerator there (PXN).
  bool is_rail_local = false;
};

/// The accelerators of each group.
[[nodiscard]] CollectiveGroups groups_of(const CollectiveQuestion& question);

/// One way to run it.
struct CollectiveChoice {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::string protocol;  ///< "LL128"; empty where no library is asked
  NetworkCosts costs;
  /// How many times the flow's amount counts for a message.
  std::function<double(Bytes)> stretch = [](Bytes) { return 1.0; };
};

/// All ways to run it that the question allows: the algorithm asked for, else ring and tree, and
/// with NCCL's costs, what NCCL chooses from. Empty if there is no such algorithm, or NCCL has no
/// such one here. With NCCL's costs, requires `nccl_node_costs` of the cluster's accelerator.
[[nodiscard]] std::vector<CollectiveChoice> collective_choices(const Cluster& cluster,
                                                               const CollectiveQuestion& question);

}  // namespace headway
