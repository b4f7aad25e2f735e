#pragma once

#include "sim/jobs/strategy.h"
#include "sim/network/placement.h"
#include "sim/programs/flows/collective_price.h"

namespace headway {

/// For each tensor-parallel index, the ranks that hold the same parameters in `count` replicas from
/// `first`: those of a stage, and where the model stands twice also those of the stage opposite.
[[nodiscard]] CollectiveGroups replicas_of(const Strategy& strategy, const Placement& placement,
                                           int stage, int first, int count);

/// For each place in `members` replicas that share out a stage's states, the ranks with that place
/// in every such copy; of the places of replica `offset`.
[[nodiscard]] CollectiveGroups copies_of(const Strategy& strategy, const Placement& placement,
                                         int stage, int offset, int members);

/// For each place in an expert group, the ranks that hold the same part of the same experts. Ranks
/// of a stage are counted tensor-parallel ones first, then context- and data-parallel ones; an
/// expert group is that many in a row (Megatron-Core's order of expert ranks). The groups of a
/// stage run together, as one communicator.
[[nodiscard]] CollectiveGroups expert_replicas_of(const Strategy& strategy,
                                                  const Placement& placement, int stage);

}  // namespace headway
