#pragma once

#include "sim/jobs/strategy.h"

namespace headway {

/// Whether groups of ranks share out the optimizer's states alone, each a copy of its own
/// (Strategy::shard_group with ZeRO-1). Every group then needs the sums of gradients over all
/// replicas, and gathers what it updated without the others.
[[nodiscard]] inline bool shards_optimizer_in_groups(const Strategy& strategy) {
  return strategy.sharding == Sharding::optimizer && strategy.shard_ranks() < strategy.replicas();
}

/// Whether every rank of a group updates whole tensors and broadcasts them.
[[nodiscard]] inline bool shards_optimizer_by_tensors(const Strategy& strategy) {
  return strategy.sharding == Sharding::optimizer &&
         strategy.optimizer_shards == OptimizerShards::tensors;
}

}  // namespace headway
