#pragma once

#include <vector>

#include "calibrate/suite/backend.h"

namespace headway {

/// The products of unfused attention over `sequence` positions, in `heads` heads of `head_size` at
/// once: scores from queries and keys, their weighted sum of values, and that of the transposed
/// scores, which the backward pass takes.
[[nodiscard]] std::vector<BatchedGemmPoint> attention_points(Precision precision, int heads,
                                                             int sequence, int head_size);

/// Both passes of every shape of the grid whose forward pass has at most so many operations. A
/// quick grid has causal attention of the first number of sequences only.
[[nodiscard]] std::vector<AttentionPoint> fused_attention_points(const AttentionGrid& grid,
                                                                 double most_flops, bool quick);

}  // namespace headway
