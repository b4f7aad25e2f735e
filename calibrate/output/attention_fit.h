#pragma once

#include <optional>
#include <vector>

#include "calibrate/output/memory_fit.h"

namespace headway {

/// Rate at which the batched products of attention multiply (head_product_time) over what large
/// products of their precision reach, by `costs` (peak, gemm_efficiency, and what memory passes
/// at).
struct BatchedFit {
  Ratio largest;  ///< with the largest heads that were measured; its spread is the largest residual
  /// c in (d/D)^c, by which those with the smallest heads d were slower than with the largest D;
  /// nothing for heads of one size.
  std::optional<double> head_exponent;
};
/// The products of an attention follow each other, so that the sum of their times is what fits.
/// Nothing if none was measured, or if they took no longer than their scores need.
[[nodiscard]] std::optional<BatchedFit> fitted_batched(const std::vector<MeasuredPoint>& points,
                                                       const DeviceCosts& costs);

}  // namespace headway
