#include "sim/result/reliability.h"

#include <algorithm>
#include <numeric>

#include "sim/base/diagnostic.h"

namespace headway {

double quantile_of(const std::vector<double>& ascending, double probability) {
  HEADWAY_CHECK(!ascending.empty(), "a quantile needs a value");
  const double place = probability * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double share = place - static_cast<double>(below);
  // Also where both are infinite.
  if (share == 0.0 || ascending[below] == ascending[above]) return ascending[below];
  return ascending[below] + share * (ascending[above] - ascending[below]);
}

Percentiles percentiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .low = quantile_of(values, 0.05),
          .median = quantile_of(values, 0.5),
          .high = quantile_of(values, 0.95)};
}

}  // namespace headway
