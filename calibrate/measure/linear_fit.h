#pragma once

#include <vector>

namespace headway {

/// One observation of t = sum over i of c_i x_i.
struct Observation {
  std::vector<double> features;
  double value = 0.0;
};

/// Coefficients c_i >= 0 that minimise the sum of squared *relative* errors (sum c_i x_i / t -
/// 1)^2, as a time of 2 us matters as much as one of 2 s. Exact: each set of coefficients that may
/// be other than zero is solved and the best feasible one taken, so there are at most a handful of
/// features. Values are positive. Where the observations cannot tell features apart, those that
/// are not needed get zero.
[[nodiscard]] std::vector<double> non_negative_fit(const std::vector<Observation>& observations);

/// The predicted value.
[[nodiscard]] double fitted_value(const std::vector<double>& coefficients,
                                  const std::vector<double>& features);

}  // namespace headway
