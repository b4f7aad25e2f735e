#pragma once

#include "sim/costs/kernel_cost.h"

namespace headway {

/// The formula of gemm_cost, whatever the table holds. Requires a shape without a zero.
[[nodiscard]] Cost gemm_formula_cost(const DeviceCosts& device, const GemmShape& shape,
                                     Precision precision, Bytes shared = {});

}  // namespace headway
