#pragma once

#include <cstddef>
#include <vector>

#include "sim/network/topology.h"
#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// The `count` links with the highest utilisation over the iteration, ties in order of links.
[[nodiscard]] std::vector<LinkUse> busiest_links(const Workload& workload, const Timeline& timeline,
                                                 const Topology& topology, std::size_t count);

/// Bytes that crossed each link of the topology: of flows, and of what blocks are charged for.
[[nodiscard]] std::vector<double> bytes_by_link(const Workload& workload, const Timeline& timeline,
                                                const Topology& topology);

/// Of flows alone.
[[nodiscard]] std::vector<double> flow_bytes_by_link(const Workload& workload,
                                                     const Timeline& timeline,
                                                     const Topology& topology);

}  // namespace headway
