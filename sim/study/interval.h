#pragma once

#include <cstddef>
#include <vector>

#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// The run whose finish is the (lower) median.
[[nodiscard]] std::size_t median_index(const std::vector<Timeline>& runs);

/// Where 90 % of measured iterations of such a job should lie: around the median of the runs, as
/// wide as three independent errors make it together: the draws differ, kernel costs are known to
/// `spread` (one standard deviation, relative), and the model itself is off by what validation
/// shows.
[[nodiscard]] Interval expected_interval(const std::vector<Timeline>& runs, double spread);

/// The same of a job whose software was anchored by a measured step, of that very job or of another
/// one. What kernels cost and how far the model is off is then known as far as the rest of a source
/// is, once one factor for the source is (tests/validation/README.md).
[[nodiscard]] Interval anchored_interval(const std::vector<Timeline>& runs, bool is_very_job);

}  // namespace headway
