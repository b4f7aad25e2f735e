#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// Why a change of the fabric matters little to this job: how high up what it sends goes, and how
/// full the fullest link is. Begins with a small letter; empty if nothing is known of its links.
[[nodiscard]] std::string fabric_remark(const Prediction& prediction);

/// Whether the field is one of the fabric.
[[nodiscard]] bool is_of_fabric(const std::string& pointer);

}  // namespace headway
