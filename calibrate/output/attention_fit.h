#pragma once

#include <optional>
#include <vector>

#include "calibrate/output/memory_fit.h"

namespace headway {

/// Rate of the batched products of attention over what large products of their precision reach by
/// `costs` (peak and gemm_efficiency).
struct BatchedFit {
  Ratio largest;  ///< with the largest heads that were measured; half of the range as its spread
  /// c in (d/D)^c, by which those with the smallest heads d were slower than with the largest D;
  /// nothing for heads of one size.
  std::optional<double> head_exponent;
};
/// The products of an attention follow each other, so the mean is of their times for an operation.
/// Nothing if none was measured.
[[nodiscard]] std::optional<BatchedFit> fitted_batched(const std::vector<MeasuredPoint>& points,
                                                       const DeviceCosts& costs);

}  // namespace headway
