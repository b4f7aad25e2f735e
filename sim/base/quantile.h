#pragma once

#include <vector>

namespace headway {

/// The value below which the share `p` of the samples lies, on straight lines between order
/// statistics (Hyndman and Fan 1996, type 7). `sorted` is ascending and not empty; 0 <= p <= 1.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double p);

/// Requires at least one sample.
[[nodiscard]] double mean(const std::vector<double>& samples);
/// Requires at least one sample.
[[nodiscard]] double median(std::vector<double> samples);

/// The standard normal variable lies above this with probability `upper`, 0 < upper < 1. Exact to
/// about a double in either tail.
[[nodiscard]] double normal_tail_quantile(double upper);

/// The probability of a standard normal variable at or below `z`.
[[nodiscard]] double normal_probability(double z);

/// A gamma variable of `shape` > 0 and scale 1 lies above this with probability `upper`, 0 < upper
/// < 1.
[[nodiscard]] double gamma_tail_quantile(double shape, double upper);

}  // namespace headway
