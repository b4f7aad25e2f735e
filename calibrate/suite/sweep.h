#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/stop_rule.h"
#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Points that are measured together.
struct Section {
  std::string name;  ///< "gemm"
  std::vector<Point> points;
  StopRule rule;
};

struct MeasuredPoint {
  Point point;
  Measured measured;
  double device_spread = 0.0;  ///< relative standard deviation of the time between ranks
  DeviceState state = {};      ///< the lowest clock of its passes, all that throttled them
};

/// A point that was left out, and why.
struct RefusedPoint {
  Point point;
  std::string reason;
};

/// Passes at a clock below this share of the median are repeated, and counted if they stay there.
inline constexpr double kLowClock = 0.9;

struct SweepRules {
  int passes = 3;  ///< over all points, each in another order
  std::uint64_t seed = 1;
};

/// Told before each point: how many were measured of how many, and which comes next.
using Progress = std::function<void(const std::string& section, std::size_t done, std::size_t total,
                                    const Point& next)>;

/// Measures a section and appends a result for each of its points to `results`, on every rank the
/// same: times are means over the ranks. What a backend refuses goes to `refused` with the reason,
/// and stands in `results` where another rank has measured it. If a pass ends early by an exception, what was measured
/// until then is appended (this rank's view of it) before the exception goes on.
void measure_section(const Section& section, Backend& backend, Rendezvous& rendezvous,
                     const SweepRules& rules, const Progress& progress,
                     std::vector<MeasuredPoint>& results, std::vector<RefusedPoint>& refused);

}  // namespace headway
