#pragma once

#include "sim/costs/kernel_cost.h"

namespace headway {

/// The formula of gemm_cost, whatever the table holds. Where there is one, constants were fitted
/// over it with tiles of 256 columns and one start for all precisions, and hold so. Requires a
/// shape without a zero.
[[nodiscard]] Cost gemm_formula_cost(const DeviceCosts& device, const GemmShape& shape,
                                     Precision precision, const GemmOperands& operands = {});

}  // namespace headway
