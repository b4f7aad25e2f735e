#pragma once

#include <cstddef>
#include <vector>

#include "sim/base/quantile.h"

namespace headway {

/// Median of the absolute deviations from the median: a spread that a few wild samples do not move.
[[nodiscard]] double median_absolute_deviation(const std::vector<double>& samples);

/// Which order statistics (counted from 0) hold the median of the population between them with at
/// least 95 % probability, whatever the distribution: of n samples, the number below the median is
/// binomial(n, 1/2). Below 6 samples no two of them do.
struct MedianInterval {
  bool exists = false;
  std::size_t lower = 0;
  std::size_t upper = 0;
};
[[nodiscard]] MedianInterval median_interval(std::size_t samples);

/// Half the width of that interval over the median; infinite where there is no interval.
[[nodiscard]] double relative_median_interval(std::vector<double> samples);

/// How samples relate to the ones before them: 0 independent, towards 1 in long episodes. 0 for
/// fewer than three samples or constant ones.
[[nodiscard]] double lag_one_autocorrelation(const std::vector<double>& samples);

}  // namespace headway
