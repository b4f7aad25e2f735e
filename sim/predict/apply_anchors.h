#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/predict/job_run.h"
#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What the measured steps of a scenario say of its job.
struct AppliedAnchors {
  AnchorEffect effect;
  /// The share that is left of the variance of what the job is off by; nothing where it was
  /// measured itself.
  std::optional<double> variance_left;
  std::vector<std::string> warnings;
};

/// Fits the anchors, makes the scenario's software as fast as they say, and tells what that
/// changed. Requires anchors.
[[nodiscard]] AppliedAnchors apply_anchors(Scenario& scenario, int jobs,
                                           const DrawsElsewhere& draws_elsewhere);

/// On times of compute, recomputation, optimizer and host, where jobs were measured that such
/// factors explain, each with its weight.
[[nodiscard]] double weighted_factor(const std::vector<double>& factors,
                                     const std::vector<double>& weights);

}  // namespace headway
