#include "sim/base/quantile.h"

#include <algorithm>
#include <cstddef>

#include "sim/base/diagnostic.h"

namespace headway {

double quantile(const std::vector<double>& sorted, double p) {
  HEADWAY_CHECK(!sorted.empty() && p >= 0.0 && p <= 1.0, "a quantile of nothing");
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

}  // namespace headway
