#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/plan/cluster_plan.h"

namespace headway {

/// The sizes that were tried, and the smallest that meets the goal.
[[nodiscard]] std::string cluster_plan_text(const ClusterPlan& plan);
[[nodiscard]] nlohmann::json cluster_plan_json(const ClusterPlan& plan);

}  // namespace headway
