#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "sim/scenario/scenario.h"

namespace headway {

/// The scenario's cluster with something else in its topology, which `change` gets resolved and
/// leaves such that it reads back.
[[nodiscard]] std::shared_ptr<const Cluster> cluster_with(
    const Scenario& scenario, const std::function<void(nlohmann::json& topology)>& change);

}  // namespace headway
