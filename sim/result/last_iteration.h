#pragma once

#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// Iterations a second of each rank group of a run out of step, from those but for the first
/// quarter; of one that is not through with any, from what it has computed.
[[nodiscard]] std::vector<double> paces(const Workload& workload, const Timeline& timeline);

/// What an iteration takes in a run of several. In step, the run by their number. Else each rank
/// group has a pace of its own, and an iteration is the time in which all of them together do as
/// many as there are groups.
[[nodiscard]] double settled_iteration_time(const Workload& workload, const Timeline& timeline);

/// A run of several iterations as if it were its last one: what happened before stands at time 0,
/// bytes and work of servers are those of one iteration. Updates are those after the first quarter.
[[nodiscard]] Timeline last_iteration(const Workload& workload, const Timeline& timeline);

}  // namespace headway
