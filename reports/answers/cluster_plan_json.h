#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/plan/cluster_plan.h"

namespace headway {

[[nodiscard]] nlohmann::json goal_json(const TrainingGoal& goal);
[[nodiscard]] nlohmann::json bill_json(const BillOfMaterials& bill);
/// {"time_s", "usd", "power_W"}: by how much each is missed.
[[nodiscard]] nlohmann::json shortfall_json(const Shortfall& missing);
/// With its runs, if any were simulated.
[[nodiscard]] nlohmann::json size_json(const ClusterSize& size, const TrainingGoal& goal);
/// "headway/cluster-plan/1"
[[nodiscard]] nlohmann::json cluster_plan_json(const ClusterPlan& plan);

/// The runs that were simulated, one record each.
[[nodiscard]] nlohmann::json run_records(const ClusterPlan& plan);

}  // namespace headway
