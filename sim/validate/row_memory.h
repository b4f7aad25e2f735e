#pragma once

#include "sim/jobs/strategy.h"
#include "sim/validate/validation_row.h"

namespace headway {

/// The row's strategy with what its software is known to keep in memory: the one place where that
/// is written down, for whole families and releases, never for a row. A family that is not listed
/// keeps what strategies keep by default: fused kernels, logits split over tensor-parallel ranks.
[[nodiscard]] Strategy strategy_in_memory(const PublishedRow& row, Strategy strategy);

}  // namespace headway
