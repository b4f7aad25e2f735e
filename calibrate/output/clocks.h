#pragma once

#include <string>
#include <vector>

#include "calibrate/suite/sweep.h"

namespace headway {

/// Below this share of the median clock of all points, a point was measured on a slow device.
inline constexpr double kLowClock = 0.9;

/// What the device's clock did while points were measured: "1755 MHz in the median, from 1590; 3 of
/// 120 points below 90 % of it; throttled by power cap (12 points)". Empty if nobody watched it.
[[nodiscard]] std::string clocks_text(const std::vector<MeasuredPoint>& points);

}  // namespace headway
