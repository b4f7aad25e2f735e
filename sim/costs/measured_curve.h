#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/costs/cost.h"

namespace headway {

/// Times measured over sizes. Points stand in the order of their sizes, no size twice; the first
/// and the last are the range.
struct MeasuredCurve {
  struct Point {
    Bytes size;
    Seconds time;
  };
  std::vector<Point> points;
  double spread = 0.0;  ///< of one time, between repetitions or around the fitted curve
  std::string source;
};

/// The time at `size`, on straight lines between the points (exact for a latency and a bandwidth).
/// Nothing outside of the range.
[[nodiscard]] std::optional<Cost> curve_cost(const MeasuredCurve& curve, Bytes size);

}  // namespace headway
