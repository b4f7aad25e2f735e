#pragma once

#include <string>

#include "sim/network/cluster.h"

namespace headway {

/// "meta-24k: 16 hosts with 128 ports, 24 switches, 256 cables"
[[nodiscard]] std::string fabric_counts(const Cluster& cluster);

/// The fabric as a graph for Graphviz: switches as boxes, tier over tier, parallel cables as one
/// line that says how many there are. Cables that are down are dashed.
[[nodiscard]] std::string fabric_dot(const Cluster& cluster);

}  // namespace headway
