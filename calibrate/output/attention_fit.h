#pragma once

#include <optional>
#include <vector>

#include "calibrate/output/memory_fit.h"

namespace headway {

/// Rate of the batched products over what large products of their precision reach by `costs` (peak
/// and gemm_efficiency): the mean, and half of the range between the largest and the smallest.
/// Nothing if none was measured.
[[nodiscard]] std::optional<Ratio> batched_rate(const std::vector<MeasuredPoint>& points,
                                                const DeviceCosts& costs);

}  // namespace headway
