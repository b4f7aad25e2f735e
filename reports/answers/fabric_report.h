#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/cluster.h"

namespace headway {

/// "meta-24k: 16 hosts with 128 ports, 24 switches, 256 cables"
[[nodiscard]] std::string fabric_counts(const Cluster& cluster);

/// What `headway topology` prints.
[[nodiscard]] std::string fabric_text(const Cluster& cluster, const FabricAnalysis& analysis);
[[nodiscard]] nlohmann::json fabric_json(const Cluster& cluster, const FabricAnalysis& analysis);

/// The fabric as a graph for Graphviz: switches as boxes, tier over tier, parallel cables as one
/// line that says how many there are. Cables that are down are dashed.
[[nodiscard]] std::string fabric_dot(const Cluster& cluster);

}  // namespace headway
