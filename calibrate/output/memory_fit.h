#pragma once

#include <optional>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "calibrate/suite/sweep.h"
#include "sim/costs/profile.h"

namespace headway {

/// The residual addition over its traffic: what a streaming pass costs here. Empty if it was not
/// measured.
[[nodiscard]] MeasuredCurve streaming_curve(const std::vector<MeasuredPoint>& points,
                                            double activation_bytes);

/// The optimizer over the fp32 bytes of the weights it updates. Empty if it was not measured.
[[nodiscard]] MeasuredCurve optimizer_curve(const std::vector<MeasuredPoint>& points);

/// Two numbers of a curve: the rate of its largest sizes and the highest rate anywhere (a cache's).
struct StreamingRate {
  double sustained_bytes_per_s = 0.0;
  double most_bytes_per_s = 0.0;
  FitError residual;
  std::optional<FitError> held_out;
};
/// Requires at least one point.
[[nodiscard]] StreamingRate streaming_rate(const MeasuredCurve& curve);

/// A factor and how much the measurements of it differ (relative standard deviation).
struct Ratio {
  double value = 1.0;
  double spread = 0.0;
};

/// How much more than its compulsory traffic a kernel seems to move: its time over the streaming
/// curve's at the same traffic, the geometric mean over the sizes of `kernels` that the curve
/// covers. Nothing if none was measured.
[[nodiscard]] std::optional<Ratio> traffic_ratio(const std::vector<MeasuredPoint>& points,
                                                 const MeasuredCurve& curve,
                                                 double activation_bytes,
                                                 const std::vector<MemoryKernel>& kernels);

}  // namespace headway
