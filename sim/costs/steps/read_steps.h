#pragma once

#include <string>
#include <vector>

#include "sim/costs/steps/training_step.h"

namespace headway {

/// The steps of a "headway/steps/1" file. Throws InputError with every problem found.
[[nodiscard]] std::vector<TrainingStep> read_steps(const std::string& path);

/// The rows of a "headway/measured/1" file, which the calibrator writes: the steps with what
/// was measured of them. Throws InputError as read_steps does.
[[nodiscard]] std::vector<MeasuredStep> read_measured(const std::string& path);

}  // namespace headway
