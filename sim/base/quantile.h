#pragma once

#include <vector>

namespace headway {

/// The value below which the share `p` of the samples lies, on straight lines between order
/// statistics (Hyndman and Fan 1996, type 7). `sorted` is ascending and not empty; 0 <= p <= 1.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double p);

/// Requires at least one sample.
[[nodiscard]] double median(std::vector<double> samples);

}  // namespace headway
