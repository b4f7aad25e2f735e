#pragma once

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// What an iteration takes in a run of several. In step, the run by their number. Else each rank
/// group has a pace of its own, from its iterations but for the first quarter, and an iteration is
/// the time in which all of them together do as many as there are groups. Who is not through with
/// one has the pace of what it has computed.
[[nodiscard]] double settled_iteration_time(const Workload& workload, const Timeline& timeline);

/// A run of several iterations as if it were its last one: what happened before stands at time 0,
/// bytes and work of servers are those of one iteration. Updates are those after the first quarter.
[[nodiscard]] Timeline last_iteration(const Workload& workload, const Timeline& timeline);

}  // namespace headway
