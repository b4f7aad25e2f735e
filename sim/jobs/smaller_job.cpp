#include "sim/jobs/smaller_job.h"

#include <algorithm>

namespace headway {

std::optional<Strategy> with_replicas(Strategy strategy, int replicas) {
  strategy.global_batch = strategy.global_batch / strategy.data_parallel * replicas;
  strategy.data_parallel = replicas;
  if (replicas % strategy.islands() != 0) return std::nullopt;
  // A group of shards that no longer fits shrinks to the ranks there are.
  strategy.shard_group = std::min(strategy.shard_group, strategy.replicas());
  if (strategy.replicas() % strategy.shard_ranks() != 0) return std::nullopt;
  if (strategy.ranks_of_stage() % strategy.expert_group() != 0) return std::nullopt;
  return strategy;
}

}  // namespace headway
