#pragma once

#include <string>
#include <vector>

#include "calibrate/suite/sweep.h"

namespace headway {

/// What the device's clock did while points were measured: "1755 MHz in the median, from 1590; 3 of
/// 120 points below 90 % of it; throttled by power cap (12 points)". Empty if nobody watched it.
[[nodiscard]] std::string clocks_text(const std::vector<MeasuredPoint>& points);

}  // namespace headway
