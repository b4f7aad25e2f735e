#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "calibrate/suite/sweep.h"
#include "sim/costs/profile.h"

namespace headway {

/// Measured collectives of one implementation, by kind and ranks, sizes rising. Groups of one rank
/// are no measurement of a network (NCCL copies, or does nothing) and are left out.
[[nodiscard]] std::vector<MeasuredCollective> collective_curves(
    const std::vector<MeasuredPoint>& points, const std::string& implementation);

/// t = overhead + steps * latency + bytes_factor * message / bandwidth, with the ring's steps and
/// volume (sim/costs/collective_cost.h), over all kinds and group sizes at once.
struct LinkFit {
  double overhead = 0.0;     ///< seconds
  double latency = 0.0;      ///< seconds a step
  double bytes_per_s = 0.0;  ///< infinite if size never mattered
  FitError residual;
  std::optional<FitError> held_out_ranks;  ///< the largest group, predicted from the smaller ones
};
/// Nothing for no curves.
[[nodiscard]] std::optional<LinkFit> fitted_link(const std::vector<MeasuredCollective>& curves);

}  // namespace headway
