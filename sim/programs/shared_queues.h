#pragma once

#include <cstdint>

#include "sim/network/topology.h"
#include "sim/programs/workload.h"

namespace headway {

/// Software runs what a process group gathers and reduces one after the other (Zhao et al. 2023,
/// section 3.3.2): both communicators wait in the queue of `reduce`.
void share_queue(Workload& workload, std::int32_t reduce, std::int32_t gather);

/// The collectives of `experts` are of another process group than the `others` of their stage, and
/// share links with them as any flows do. Where no link holds either of them but the rate at which
/// an accelerator sends, which is no link, they cannot both have it: they take turns, and so does
/// all that is in their queues. Of `others` that are fewer than the experts' members, copies of
/// sharded states, each has accelerators of its own, and nothing is changed.
void share_ports(Workload& workload, const Topology& topology, std::int32_t others,
                 std::int32_t experts);

}  // namespace headway
