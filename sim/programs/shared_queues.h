#pragma once

#include <cstdint>

#include "sim/programs/workload.h"

namespace headway {

/// Software runs what a process group gathers and reduces one after the other (Zhao et al. 2023,
/// section 3.3.2): both communicators wait in the queue of `reduce`.
void share_queue(Workload& workload, std::int32_t reduce, std::int32_t gather);

/// The collectives of `experts` are of another process group than the `others` of their
/// accelerators, and run beside them. The ports by which these accelerators send into their
/// scale-up domains are no links, and give both together no more than either alone: all that is in
/// the two queues shares the ports of `others`. Called once for each of several `others`, copies of
/// sharded states, which have accelerators of their own.
void share_ports(Workload& workload, std::int32_t others, std::int32_t experts);

}  // namespace headway
