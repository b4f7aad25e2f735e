#include "sim/costs/table_correction.h"

#include <algorithm>
#include <cmath>

#include "sim/costs/spread.h"

namespace headway {
namespace {

constexpr std::size_t kNeighbours = 8;
const double kReach = std::log(4.0);  ///< as the distance of the logarithms

double distance(const LogSizes& a, const LogSizes& b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

bool is_among(const LogSizes& sizes, const std::vector<MeasuredFactor>& measured) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [least, most] =
        std::minmax_element(measured.begin(), measured.end(),
                            [i](const auto& a, const auto& b) { return a.sizes[i] < b.sizes[i]; });
    if (sizes[i] < least->sizes[i] || sizes[i] > most->sizes[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<Correction> table_correction(const LogSizes& sizes,
                                           std::vector<MeasuredFactor> measured) {
  if (measured.empty() || !is_among(sizes, measured)) return std::nullopt;
  const std::size_t kept = std::min(kNeighbours, measured.size());
  std::partial_sort(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(kept),
                    measured.end(), [&sizes](const MeasuredFactor& a, const MeasuredFactor& b) {
                      return distance(sizes, a.sizes) < distance(sizes, b.sizes);
                    });
  measured.resize(kept);
  const double nearest = distance(sizes, measured.front().sizes);
  if (nearest > kReach) return std::nullopt;
  if (nearest == 0.0) {
    return Correction{std::exp(measured.front().log_factor), measured.front().spread};
  }

  double weights = 0.0;
  double log_factor = 0.0;
  double spread = 0.0;
  for (const MeasuredFactor& one : measured) {
    const double weight = std::pow(distance(sizes, one.sizes), -2.0);
    weights += weight;
    log_factor += weight * one.log_factor;
    spread += weight * one.spread;
  }
  log_factor /= weights;
  spread /= weights;
  double variance = 0.0;
  for (const MeasuredFactor& one : measured) {
    const double share = std::pow(distance(sizes, one.sizes), -2.0) / weights;
    variance += share * std::pow(one.log_factor - log_factor, 2);
  }
  return Correction{std::exp(log_factor), combined_spread({spread, std::sqrt(variance)})};
}

}  // namespace headway
