#include "sim/programs/replica_groups.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace headway {

CollectiveGroups replicas_of(const Strategy& strategy, const Placement& placement, int stage,
                             int first, int count) {
  const int opposite = strategy.pipeline_parallel - 1 - stage;
  CollectiveGroups groups;
  for (int t = 0; t < strategy.tensor_parallel; ++t) {
    std::vector<std::int32_t> members;
    for (int d = first; d < first + count; ++d) {
      for (int c = 0; c < strategy.context_parallel; ++c) {
        members.push_back(placement.accelerator(t, c, d, stage));
        if (strategy.schedule->is_doubled()) {
          members.push_back(placement.accelerator(t, c, d, opposite));
        }
      }
    }
    groups.push_back(std::move(members));
  }
  return groups;
}

CollectiveGroups copies_of(const Strategy& strategy, const Placement& placement, int stage,
                           int offset, int members) {
  CollectiveGroups groups;
  for (int t = 0; t < strategy.tensor_parallel; ++t) {
    for (int c = 0; c < strategy.context_parallel; ++c) {
      std::vector<std::int32_t> holders;
      for (int d = offset; d < strategy.data_parallel; d += members) {
        holders.push_back(placement.accelerator(t, c, d, stage));
      }
      groups.push_back(std::move(holders));
    }
  }
  return groups;
}

CollectiveGroups expert_replicas_of(const Strategy& strategy, const Placement& placement,
                                    int stage) {
  CollectiveGroups groups(static_cast<std::size_t>(strategy.expert_group()));
  int rank = 0;
  for (int d = 0; d < strategy.data_parallel; ++d) {
    for (int c = 0; c < strategy.context_parallel; ++c) {
      for (int t = 0; t < strategy.tensor_parallel; ++t) {
        groups[static_cast<std::size_t>(rank++ % strategy.expert_group())].push_back(
            placement.accelerator(t, c, d, stage));
      }
    }
  }
  return groups;
}

}  // namespace headway
