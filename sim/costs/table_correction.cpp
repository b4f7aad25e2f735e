#include "sim/costs/table_correction.h"

#include <algorithm>
#include <cmath>

#include "sim/costs/spread.h"

namespace headway {
namespace {

constexpr std::size_t kNeighbours = 12;
constexpr std::size_t kTerms = std::tuple_size_v<LogSizes> + 1;  ///< a value here, and slopes
constexpr double kSlopePenalty = 0.003;
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

/// Solves a symmetric system that is positive on its diagonal, by elimination.
std::array<double, kTerms> solved(std::array<std::array<double, kTerms + 1>, kTerms> rows) {
  for (std::size_t pivot = 0; pivot < kTerms; ++pivot) {
    for (std::size_t below = pivot + 1; below < kTerms; ++below) {
      const double share = rows[below][pivot] / rows[pivot][pivot];
      for (std::size_t i = pivot; i <= kTerms; ++i) rows[below][i] -= share * rows[pivot][i];
    }
  }
  std::array<double, kTerms> values{};
  for (std::size_t row = kTerms; row-- > 0;) {
    double rest = rows[row][kTerms];
    for (std::size_t i = row + 1; i < kTerms; ++i) rest -= rows[row][i] * values[i];
    values[row] = rest / rows[row][row];
  }
  return values;
}

/// 1 and where a neighbour stands as seen from `sizes`: what a plane's terms count.
std::array<double, kTerms> terms(const LogSizes& sizes, const LogSizes& neighbour) {
  std::array<double, kTerms> result{1.0};
  for (std::size_t i = 0; i < sizes.size(); ++i) result[i + 1] = neighbour[i] - sizes[i];
  return result;
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
  for (const MeasuredFactor& one : measured) weights += std::pow(distance(sizes, one.sizes), -2.0);
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (std::size_t i = 1; i < kTerms; ++i) rows[i][i] = kSlopePenalty;
  double spread = 0.0;
  for (const MeasuredFactor& one : measured) {
    const double share = std::pow(distance(sizes, one.sizes), -2.0) / weights;
    const auto counts = terms(sizes, one.sizes);
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) rows[i][j] += share * counts[i] * counts[j];
      rows[i][kTerms] += share * counts[i] * one.log_factor;
    }
    spread += share * one.spread;
  }
  const auto [least, most] =
      std::minmax_element(measured.begin(), measured.end(),
                          [](const auto& a, const auto& b) { return a.log_factor < b.log_factor; });
  const double log_factor = std::clamp(solved(rows)[0], least->log_factor, most->log_factor);
  double variance = 0.0;
  for (const MeasuredFactor& one : measured) {
    const double share = std::pow(distance(sizes, one.sizes), -2.0) / weights;
    variance += share * std::pow(one.log_factor - log_factor, 2);
  }
  return Correction{std::exp(log_factor), combined_spread({spread, std::sqrt(variance)})};
}

}  // namespace headway
