#include "sim/programs/layout/replica_groups.h"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sim/jobs/strategy.h"

namespace headway {
namespace {

enum class Grouping { replicas, copies, experts, ends };

/// Groups that are told by how, where and of what a job's ranks stand.
NamedGroups named(Grouping grouping, const Placement& placement, std::initializer_list<int> which,
                  std::function<CollectiveGroups()> members) {
  std::vector<int> name{static_cast<int>(grouping), placement.tensor,
                        placement.context,          placement.data,
                        placement.pipeline,         placement.first_accelerator};
  for (const ParallelDimension dimension : placement.order)
    name.push_back(static_cast<int>(dimension));
  name.insert(name.end(), which);
  return {std::move(name), std::move(members)};
}

CollectiveGroups replicas_of(const Strategy& strategy, const Placement& placement, int stage,
                             int first, int count) {
  const int opposite = strategy.pipeline_parallel - 1 - stage;
  CollectiveGroups groups;
  for (int t = 0; t < strategy.tensor_parallel; ++t) {
    std::vector<std::int32_t> members;
    members.reserve(static_cast<std::size_t>(count) *
                    static_cast<std::size_t>(strategy.context_parallel));
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
  const int opposite = strategy.pipeline_parallel - 1 - stage;
  CollectiveGroups groups(static_cast<std::size_t>(strategy.expert_group()));
  int rank = 0;
  for (int d = 0; d < strategy.data_parallel; ++d) {
    for (int c = 0; c < strategy.context_parallel; ++c) {
      for (int t = 0; t < strategy.tensor_parallel; ++t) {
        auto& group = groups[static_cast<std::size_t>(rank++ % strategy.expert_group())];
        group.push_back(placement.accelerator(t, c, d, stage));
        if (strategy.schedule->is_doubled()) {
          group.push_back(placement.accelerator(t, c, d, opposite));
        }
      }
    }
  }
  return groups;
}

CollectiveGroups ends_of(const Strategy& strategy, const Placement& placement, int replica) {
  CollectiveGroups pairs;
  for (int c = 0; c < strategy.context_parallel; ++c) {
    for (int t = 0; t < strategy.tensor_parallel; ++t) {
      pairs.push_back({placement.accelerator(t, c, replica, 0),
                       placement.accelerator(t, c, replica, strategy.pipeline_parallel - 1)});
    }
  }
  return pairs;
}

}  // namespace

NamedGroups replica_groups(const Strategy& strategy, const Placement& placement, int stage,
                           int first, int count) {
  return named(
      Grouping::replicas, placement, {stage, first, count, strategy.copies()},
      [=, &strategy, &placement] { return replicas_of(strategy, placement, stage, first, count); });
}

NamedGroups copy_groups(const Strategy& strategy, const Placement& placement, int stage, int offset,
                        int members) {
  return named(Grouping::copies, placement, {stage, offset, members}, [=, &strategy, &placement] {
    return copies_of(strategy, placement, stage, offset, members);
  });
}

NamedGroups expert_groups(const Strategy& strategy, const Placement& placement, int stage) {
  return named(
      Grouping::experts, placement, {stage, strategy.expert_group(), strategy.copies()},
      [=, &strategy, &placement] { return expert_replicas_of(strategy, placement, stage); });
}

NamedGroups end_groups(const Strategy& strategy, const Placement& placement, int replica) {
  return named(Grouping::ends, placement, {replica},
               [=, &strategy, &placement] { return ends_of(strategy, placement, replica); });
}

}  // namespace headway
