#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/result/reliability.h"
#include "sim/result/shared_fabric.h"
#include "sim/result/what_if.h"

namespace headway {

[[nodiscard]] nlohmann::json percentiles_json(const Percentiles& of);

/// Adds "goodput", "ettr", "time_to_train_s" and "long_run" to a result document.
void add_reliability_json(nlohmann::json& result, const ReliabilityPrediction& reliability);

/// The value of "shared_fabric" in result documents.
[[nodiscard]] nlohmann::json shared_fabric_json(const SharedFabric& shared);

/// The value of "what_if" in result documents: stragglers and removals.
[[nodiscard]] nlohmann::json what_if_json(const WhatIf& what_if);

/// The value of "bottlenecks" (the sensitivities) or "mitigations": what would help, most first.
[[nodiscard]] nlohmann::json helps_json(const std::vector<Sensitivity>& helps);

}  // namespace headway
