#include "calibrate/measure/linear_fit.h"

#include <cmath>
#include <limits>
#include <optional>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Rows of [A | b]; Gaussian elimination with partial pivoting. Nothing for a singular system.
std::optional<std::vector<double>> solved(std::vector<std::vector<double>> rows) {
  const std::size_t n = rows.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(rows[row][column]) > std::abs(rows[pivot][column])) pivot = row;
    }
    // The diagonal was scaled to 1, so a pivot this small is rounding.
    if (std::abs(rows[pivot][column]) < 1e-12) return std::nullopt;
    std::swap(rows[pivot], rows[column]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (std::size_t i = column; i <= n; ++i) rows[row][i] -= factor * rows[column][i];
    }
  }
  std::vector<double> solution;
  for (std::size_t i = 0; i < n; ++i) solution.push_back(rows[i][n] / rows[i][i]);
  return solution;
}

double squared_relative_error(const std::vector<Observation>& observations,
                              const std::vector<double>& coefficients) {
  double sum = 0.0;
  for (const Observation& observation : observations) {
    const double error = fitted_value(coefficients, observation.features) / observation.value - 1.0;
    sum += error * error;
  }
  return sum;
}

/// Least squares over the features in `set` (a bit each), the others zero.
std::optional<std::vector<double>> fit_of_set(const std::vector<Observation>& observations,
                                              std::size_t features, unsigned set) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < features; ++i) {
    if ((set >> i & 1U) != 0) used.push_back(i);
  }
  // Normal equations of x_i / t against 1, each feature scaled to unit length for the pivot test.
  std::vector<double> length(used.size(), 0.0);
  for (const Observation& observation : observations) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      length[i] += std::pow(observation.features[used[i]] / observation.value, 2);
    }
  }
  for (double& l : length) {
    l = std::sqrt(l);
    if (l == 0.0) return std::nullopt;
  }
  std::vector<std::vector<double>> rows(used.size(), std::vector<double>(used.size() + 1, 0.0));
  for (const Observation& observation : observations) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      const double xi = observation.features[used[i]] / observation.value / length[i];
      for (std::size_t j = 0; j < used.size(); ++j) {
        rows[i][j] += xi * observation.features[used[j]] / observation.value / length[j];
      }
      rows[i][used.size()] += xi;
    }
  }
  const auto solution = solved(std::move(rows));
  if (!solution) return std::nullopt;
  std::vector<double> coefficients(features, 0.0);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if ((*solution)[i] < 0.0) return std::nullopt;
    coefficients[used[i]] = (*solution)[i] / length[i];
  }
  return coefficients;
}

}  // namespace

double fitted_value(const std::vector<double>& coefficients, const std::vector<double>& features) {
  HEADWAY_CHECK(coefficients.size() == features.size(), "a fit of other features");
  double value = 0.0;
  for (std::size_t i = 0; i < features.size(); ++i) value += coefficients[i] * features[i];
  return value;
}

std::vector<double> non_negative_fit(const std::vector<Observation>& observations) {
  HEADWAY_CHECK(!observations.empty(), "a fit of no observations");
  const std::size_t features = observations.front().features.size();
  HEADWAY_CHECK(features > 0 && features <= 8, "a fit tries every set of its features");

  std::vector<double> best(features, 0.0);
  double least = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < 1U << features; ++set) {
    const auto coefficients = fit_of_set(observations, features, set);
    if (!coefficients) continue;
    const double error = squared_relative_error(observations, *coefficients);
    if (error < least * (1.0 - 1e-12)) {
      least = error;
      best = *coefficients;
    }
  }
  return best;
}

}  // namespace headway
