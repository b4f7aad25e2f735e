#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// One measured time over a size.
struct SizedTime {
  Bytes size;
  Seconds time;
};

/// From size `from` on: time = latency + size / bandwidth. Infinite bandwidth: the size does not
/// matter.
struct Segment {
  Bytes from;
  Seconds latency;
  BytesPerSecond bandwidth;
};

/// How well a fit meets points: absolute relative errors.
struct FitError {
  int points = 0;
  double median = 0.0;
  double most = 0.0;
};
/// What absolute relative errors come to; zeros for none.
[[nodiscard]] FitError relative_errors(const std::vector<double>& errors);
/// "12 points, median 1.3 %, worst 4.0 %"
[[nodiscard]] std::string error_text(const FitError& error);

/// A time over size in up to a few straight pieces: protocols and cache levels each have their own
/// latency and bandwidth.
struct SegmentFit {
  std::vector<Segment> segments;  ///< rising `from`; the first also holds below its own
  FitError residual;              ///< on the points that were fitted
};

/// Least squares of relative errors, the breakpoints chosen by dynamic programming (Bellman and
/// Roth 1969). A further segment must lower the summed squared relative error by more than
/// `penalty_per_segment` and has at least 3 points. `points` stand in rising order of size, at
/// least one of them.
struct SegmentRules {
  int most_segments = 4;
  double penalty_per_segment = 0.002;
};
[[nodiscard]] SegmentFit fitted_segments(const std::vector<SizedTime>& points,
                                         const SegmentRules& rules = {});

/// The fit's time; never less than an earlier segment's at its end, so that more bytes never take
/// less time across a breakpoint.
[[nodiscard]] Seconds segment_time(const SegmentFit& fit, Bytes size);

[[nodiscard]] FitError fit_error(const SegmentFit& fit, const std::vector<SizedTime>& points);

/// Every third point but the ends is left out of a fit and predicted by it: what the fit is worth
/// at sizes that were not measured. Nothing for fewer than 7 points.
[[nodiscard]] std::optional<FitError> held_out_error(const std::vector<SizedTime>& points,
                                                     const SegmentRules& rules = {});

}  // namespace headway
