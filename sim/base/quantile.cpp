#include "sim/base/quantile.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Double precision is enough for a draw, and draws are where large jobs spend their time.
using InDoubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double quantile(const std::vector<double>& sorted, double p) {
  HEADWAY_CHECK(!sorted.empty() && p >= 0.0 && p <= 1.0, "a quantile of nothing");
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  // Two that are infinite have no difference.
  if (share == 0.0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

double mean(const std::vector<double>& samples) {
  HEADWAY_CHECK(!samples.empty(), "a mean of nothing");
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

double normal_tail_quantile(double upper) {
  return std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * upper, InDoubles());
}

double normal_probability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double gamma_tail_quantile(double shape, double upper) {
  return boost::math::gamma_q_inv(shape, upper, InDoubles());
}

}  // namespace headway
