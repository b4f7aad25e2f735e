#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/costs/profile.h"

namespace headway {

/// The first `digits` significant digits: no measurement has more.
[[nodiscard]] inline double rounded(double value, int digits = 6) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

[[nodiscard]] inline Estimate estimate(double value, double spread, std::string source) {
  return {rounded(value), rounded(std::clamp(spread, 0.0, 1.0), 3), std::move(source)};
}
[[nodiscard]] inline Estimate assumed(double value, double spread, const std::string& why) {
  return estimate(value, spread, "assumption: " + why);
}

}  // namespace headway
