#include "sim/programs/unused_ways.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/index.h"

namespace headway {

void drop_unused_ways(Workload& workload) {
  std::vector<bool> used(workload.plans.size(), false);
  for (const RankGroup& group : workload.groups) {
    for (const std::int32_t path : group.paths) at(used, path) = true;
  }
  std::vector<std::set<std::pair<std::int32_t, std::int32_t>>> joined;  // communicator, way
  for (const Program& program : workload.programs) {
    auto& of_program = joined.emplace_back();
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::join) continue;
      of_program.emplace(operation.path, operation.way);
    }
  }
  for (const RankGroup& group : workload.groups) {
    for (const auto& [place, way] : at(joined, group.program)) {
      const Communicator& joins = at(workload.communicators, at(group.communicators, place));
      at(used, joins.plan + way) = true;
    }
  }
  for (std::size_t plan = 0; plan < used.size(); ++plan) {
    if (!used[plan]) workload.plans[plan] = {};
  }
}

}  // namespace headway
