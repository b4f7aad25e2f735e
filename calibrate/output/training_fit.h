#pragma once

#include <optional>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "calibrate/output/memory_fit.h"
#include "calibrate/suite/sweep.h"
#include "sim/costs/profile.h"

namespace headway {

// What training_points (calibrate/suite) tell. Nothing where they were not measured.

/// The rate of fp8 products with block scales over that of the same with one scale a tensor: the
/// geometric mean over their shapes.
[[nodiscard]] std::optional<Ratio> block_scaled_rate(const std::vector<MeasuredPoint>& points);

/// Bytes of memory traffic a weight with which a gradient is added up: what such products take
/// longer than plain ones, at the `streaming` rate (bytes/s), by least squares over their sizes. At
/// least 0.
[[nodiscard]] std::optional<Ratio> accumulation_bytes(const std::vector<MeasuredPoint>& points,
                                                      double streaming);

/// The parameters of grouped_gemm_cost (sim/costs/kernel_cost.h) that meet products of experts
/// best.
struct GroupedFit {
  double efficiency = 1.0;
  double half_rows = 0.0;
  FitError residual;
};
/// By search: the least sum of squared logarithms of predicted over measured times.
[[nodiscard]] std::optional<GroupedFit> fitted_experts(const std::vector<MeasuredPoint>& points,
                                                       const DeviceCosts& costs);

}  // namespace headway
