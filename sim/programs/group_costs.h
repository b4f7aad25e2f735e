#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/costs/kind_profiles.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "sim/programs/stage_program.h"

namespace headway {

struct Strategy;

/// What the ranks of a group take that stand alike, in nodes of the same kinds.
struct GroupCosts {
  StageCost stage;
  double memory_seconds_per_byte = 0.0;
  double optimizer_seconds_per_parameter = 0.0;
  double end_seconds_per_parameter = 0.0;
  double norm_seconds_per_parameter = 0.0;

  /// Makes these the costs that programs are written with.
  void put_into(JobShape& job) const;
};

/// By class of rank group. Ranks of several kinds that compute in lockstep go at the pace of the
/// kind whose layers take longest.
[[nodiscard]] std::vector<GroupCosts> group_costs(const Model& model, const Strategy& strategy,
                                                  const KindProfiles& profiles,
                                                  const Cluster& cluster,
                                                  const std::vector<GroupClass>& classes);

/// Those of the first class, as unsure as any.
[[nodiscard]] StageCost widest_cost(const std::vector<GroupCosts>& costs);

/// Micro-batches of each replica: as many for each or, where the strategy shares them out by speed,
/// so many that the last replica ends as early as can be. A replica with m micro-batches in p
/// stages takes (m + p - 1) times what one takes its slowest stage (Narayanan et al. 2021,
/// arXiv:2104.04473, section 2.1); each further one goes to whoever would end first with it, which
/// is best, as every replica only gets slower with each. `slowness(replica, stage)` is the time
/// factor of its slowest rank.
[[nodiscard]] std::vector<std::int64_t> micro_batches_of_replicas(
    const JobShape& job, const std::vector<GroupCosts>& costs, const ExchangeLayout& layout,
    const std::function<double(int replica, int stage)>& slowness);

}  // namespace headway
