#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/cluster/fabric_analysis.h"

namespace headway {

/// What `headway topology` prints.
[[nodiscard]] std::string fabric_text(const Cluster& cluster, const FabricAnalysis& analysis);
[[nodiscard]] nlohmann::json fabric_json(const Cluster& cluster, const FabricAnalysis& analysis);

}  // namespace headway
