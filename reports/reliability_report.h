#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/document/document.h"
#include "sim/result/reliability.h"

namespace headway {

/// Lines of the text report: goodput, checkpoints, time to train, and where accelerator-hours went.
[[nodiscard]] std::string reliability_text(const ReliabilityPrediction& reliability);

/// The same as a section of a document.
[[nodiscard]] DocumentSection reliability_section(const ReliabilityPrediction& reliability);

[[nodiscard]] nlohmann::json percentiles_json(const Percentiles& of);

/// Adds "goodput", "ettr", "time_to_train_s" and "long_run" to a result document.
void add_reliability_json(nlohmann::json& result, const ReliabilityPrediction& reliability);

}  // namespace headway
