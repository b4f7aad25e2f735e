#include "sim/plan/run_time.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace headway {
namespace {

const boost::math::normal kStandard;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

RunTime::RunTime(std::vector<double> walls, Seconds low, Seconds high)
    : walls_(std::move(walls)),
      width_(std::log(high / low) / (2.0 * boost::math::quantile(kStandard, 0.95))) {}

double RunTime::probability(Seconds deadline) const {
  double sum = 0.0;
  for (const double wall : walls_) {
    if (!std::isfinite(wall)) continue;
    const double late = std::log(deadline.count() / wall);
    sum += width_ > 0.0 ? boost::math::cdf(kStandard, late / width_) : (late >= 0.0 ? 1.0 : 0.0);
  }
  return sum / static_cast<double>(walls_.size());
}

Seconds RunTime::at(double probability) const {
  constexpr int kHalvings = 60;  // to the last digits of a double
  double least = kNever;
  double most = 0.0;
  std::size_t ending = 0;
  for (const double wall : walls_) {
    if (!std::isfinite(wall)) continue;
    least = std::min(least, wall);
    most = std::max(most, wall);
    ++ending;
  }
  if (probability * static_cast<double>(walls_.size()) > static_cast<double>(ending)) {
    return Seconds(kNever);
  }
  // All histories as long as the shortest, or as the longest; where some never end, the others have
  // to make up for them, far out in the tail.
  constexpr double kTail = 8.0;
  const double z = boost::math::quantile(kStandard, probability);
  double low = std::log(least) + width_ * z;
  double high = std::log(most) + width_ * (ending == walls_.size() ? z : kTail);
  for (int i = 0; i < kHalvings && low < high; ++i) {
    const double middle = (low + high) / 2.0;
    (this->probability(Seconds(std::exp(middle))) < probability ? low : high) = middle;
  }
  return Seconds(std::exp(high));
}

}  // namespace headway
