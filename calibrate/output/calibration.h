#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/block/block_run.h"
#include "calibrate/suite/backend.h"
#include "calibrate/suite/jitter.h"
#include "calibrate/suite/sustained_run.h"
#include "calibrate/suite/sweep.h"

namespace headway {

/// Everything that one calibration found.
struct Calibration {
  Offer offer;
  std::vector<MeasuredPoint> points;
  std::vector<RefusedPoint> refused = {};
  std::optional<SustainedRun> sustained = {};
  std::optional<JitterRun> jitter;   ///< where a long run was asked for
  std::optional<BlockRun> block;     ///< likewise, a transformer block
  std::vector<std::string> missing;  ///< what was not measured, and why
  bool is_aborted = false;           ///< it ended before it was through
};

/// A line for each reason: how many points, and all of them by name.
[[nodiscard]] std::vector<std::string> refused_texts(const std::vector<RefusedPoint>& refused);

/// How far the measurements can be trusted.
struct Quality {
  int samples = 0;
  int contaminated = 0;
  /// Mean over the points: long operations have few samples, and are disturbed the most.
  double contaminated_share = 0.0;
  double pass_spread = 0.0;  ///< median over the points
};
[[nodiscard]] Quality quality(const std::vector<MeasuredPoint>& points);

/// Contamination above which a calibration is called noisy.
inline constexpr double kNoisyShare = 0.05;

/// "ok", "noisy" or "aborted".
[[nodiscard]] std::string verdict(const Calibration& calibration);

}  // namespace headway
