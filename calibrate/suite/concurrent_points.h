#pragma once

#include <vector>

#include "calibrate/suite/point.h"

namespace headway {

/// Each of `compute` beside each of `transfers` and the other way round, after each of them by
/// itself.
[[nodiscard]] std::vector<ConcurrentPoint> concurrent_points(
    const std::vector<ConcurrentPoint::Work>& compute,
    const std::vector<ConcurrentPoint::Work>& transfers);

}  // namespace headway
