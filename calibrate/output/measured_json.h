#pragma once

#include <string>
#include <vector>

#include "sim/costs/steps/training_step.h"

namespace headway {

/// The text of a "headway/measured/1" file, which read_measured (sim/costs/steps) reads back.
[[nodiscard]] std::string measured_json(const std::vector<MeasuredStep>& measured,
                                        const std::string& command_line,
                                        const std::string& created_utc);

}  // namespace headway
