#include "sim/result/workload_index.h"

namespace headway {

std::vector<JoinedCollective> joined_collectives(const Workload& workload, std::int32_t group) {
  const Program& program = program_of(workload, group);
  const RankGroup& of = at(workload.groups, group);
  std::vector<JoinedCollective> by_slot(static_cast<std::size_t>(program.collective_slots));
  std::vector<std::int32_t> joins(of.communicators.size(), 0);
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::join) continue;
    const auto path = static_cast<std::size_t>(operation.path);
    by_slot[static_cast<std::size_t>(operation.slot)] = {of.communicators[path], joins[path]++};
  }
  return by_slot;
}

}  // namespace headway
