#pragma once

#include <cmath>
#include <initializer_list>

namespace headway {

/// Relative spread of a product or quotient of independent factors: root of the sum of squares.
[[nodiscard]] inline double combined_spread(std::initializer_list<double> spreads) {
  double squares = 0.0;
  for (const double spread : spreads) squares += spread * spread;
  return std::sqrt(squares);
}

/// Relative spread of a + b, of which each has its own.
[[nodiscard]] inline double spread_of_sum(double a, double a_spread, double b, double b_spread) {
  return a + b > 0.0 ? std::hypot(a * a_spread, b * b_spread) / (a + b) : 0.0;
}

/// Relative spread that a factor 1 + term inherits from its term.
[[nodiscard]] inline double spread_of_one_plus(double term, double term_spread) {
  return spread_of_sum(1.0, 0.0, term, term_spread);
}

}  // namespace headway
