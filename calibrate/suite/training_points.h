#pragma once

#include <vector>

#include "calibrate/suite/backend.h"

namespace headway {

/// Shapes that plain products are measured in.
struct GemmGrid {
  std::vector<double> batches;
  std::vector<double> widths;
};

/// Products as training has them besides plain ones, as far as the device offers them:
/// - of fp8 with a scale a block, forward, and gradients of weights that are added up in fp32:
/// large
///   ones of the grid, whose plain products they are compared with;
/// - of 8 and 64 experts, forward and both gradients, from few rows each to many.
[[nodiscard]] std::vector<Point> training_points(const Offer& offer, const GemmGrid& grid,
                                                 bool quick);

}  // namespace headway
