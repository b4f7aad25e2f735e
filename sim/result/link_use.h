#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "sim/network/topology.h"
#include "sim/programs/perturbation/slowdowns.h"
#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// The `count` links with the highest utilisation over the iteration, ties in order of links. One
/// that `episodes` slow down has the capacity that they leave it on average.
[[nodiscard]] std::vector<LinkUse> busiest_links(const Workload& workload, const Timeline& timeline,
                                                 const Topology& topology, std::size_t count,
                                                 std::span<const LinkEpisode> episodes = {});

/// What episodes leave of the links that they slow down, on average until `finish`.
[[nodiscard]] std::map<LinkId, double> mean_factors(std::span<const LinkEpisode> episodes,
                                                    double finish);

/// Bytes that crossed each link of the topology.
[[nodiscard]] std::vector<double> bytes_by_link(const Workload& workload, const Timeline& timeline,
                                                const Topology& topology);

}  // namespace headway
