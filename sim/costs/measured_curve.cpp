#include "sim/costs/measured_curve.h"

#include <algorithm>

namespace headway {

std::optional<Cost> curve_cost(const MeasuredCurve& curve, Bytes size) {
  const auto upper = std::lower_bound(
      curve.points.begin(), curve.points.end(), size,
      [](const MeasuredCurve::Point& point, Bytes bound) { return point.size < bound; });
  if (upper == curve.points.end()) return std::nullopt;
  if (upper->size == size) return Cost{upper->time, CostStatus::exact, curve.spread};
  if (upper == curve.points.begin()) return std::nullopt;

  const auto lower = upper - 1;
  const double share = (size - lower->size) / (upper->size - lower->size);
  const Seconds time = lower->time + share * (upper->time - lower->time);
  return Cost{time, CostStatus::interpolated, curve.spread};
}

}  // namespace headway
