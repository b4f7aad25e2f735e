#pragma once

#include <string>

#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What was asked, as answers repeat it: the job in words ("tp 8, pp 16, dp 128, global batch
/// 2048, 1F1B x 8"), the resolved scenario, and what it was predicted with.
[[nodiscard]] Question question_of(const Scenario& scenario, const std::string& command_line);

}  // namespace headway
