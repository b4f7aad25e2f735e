#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// "Steps to the target": how many, how much of it is the batch's doing, and how far it pays to
/// double the accelerators.
[[nodiscard]] std::string statistics_sentence(const StepsToTarget& of);
/// What samples take to come, and what steps wait for them.
[[nodiscard]] std::string input_sentence(const InputUse& of);

/// Both, as far as the prediction has them.
[[nodiscard]] DocumentSection target_section(const Prediction& prediction);

}  // namespace headway
