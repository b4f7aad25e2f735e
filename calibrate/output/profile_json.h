#pragma once

#include <string>

#include "calibrate/output/build_profile.h"

namespace headway {

/// The text of a "headway/profile/1" file that read_profile reads back to the same numbers; each
/// estimate and each point of a table on a line of its own.
[[nodiscard]] std::string profile_json(const CalibratedProfile& calibrated);

}  // namespace headway
