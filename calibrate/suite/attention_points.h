#pragma once

#include <vector>

#include "calibrate/suite/point.h"

namespace headway {

/// The products of unfused attention over `sequence` positions, in `heads` heads of `head_size` at
/// once: scores from queries and keys, their weighted sum of values, and that of the transposed
/// scores, which the backward pass takes.
[[nodiscard]] std::vector<BatchedGemmPoint> attention_points(Precision precision, int heads,
                                                             int sequence, int head_size);

}  // namespace headway
