#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/reliability.h"

namespace headway {

/// Lines of the text report: goodput, checkpoints, and where accelerator-hours went.
[[nodiscard]] std::string reliability_text(const ReliabilityPrediction& reliability);

/// The same as a section of a document.
[[nodiscard]] DocumentSection reliability_section(const ReliabilityPrediction& reliability);

}  // namespace headway
