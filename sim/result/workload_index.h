#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/index.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

inline const Program& program_of(const Workload& workload, std::int32_t group) {
  return at(workload.programs, at(workload.groups, group).program);
}

/// Which collective a collective slot of a group stands for.
struct JoinedCollective {
  std::int32_t communicator = -1;
  std::int32_t instance = -1;
};

/// By collective slot of the group, found by counting its joins.
[[nodiscard]] std::vector<JoinedCollective> joined_collectives(const Workload& workload,
                                                               std::int32_t group);

inline const Timeline::Collective& record_of(const Timeline& timeline,
                                             const JoinedCollective& collective) {
  return at(at(timeline.collectives, collective.communicator), collective.instance);
}

}  // namespace headway
