#pragma once

#include "sim/network/placement.h"
#include "sim/programs/kind_network.h"

namespace headway {

struct Strategy;

/// For each tensor-parallel index, the ranks that hold the same parameters in `count` replicas from
/// `first`: those of a stage, and where the model stands twice also those of the stage opposite.
/// What is referred to outlives these groups, as it does the others.
[[nodiscard]] NamedGroups replica_groups(const Strategy& strategy, const Placement& placement,
                                         int stage, int first, int count);

/// For each place in `members` replicas that share out a stage's states, the ranks with that place
/// in every such copy; of the places of replica `offset`.
[[nodiscard]] NamedGroups copy_groups(const Strategy& strategy, const Placement& placement,
                                      int stage, int offset, int members);

/// For each place in an expert group, the ranks that hold the same part of the same experts. Ranks
/// of a stage are counted tensor-parallel ones first, then context- and data-parallel ones; an
/// expert group is that many in a row (Megatron-Core's order of expert ranks). The groups of a
/// stage run together, as one communicator.
[[nodiscard]] NamedGroups expert_groups(const Strategy& strategy, const Placement& placement,
                                        int stage);

/// Ranks of a replica's first stage, each with the one of its last stage that holds the same part
/// of the embedding.
[[nodiscard]] NamedGroups end_groups(const Strategy& strategy, const Placement& placement,
                                     int replica);

}  // namespace headway
