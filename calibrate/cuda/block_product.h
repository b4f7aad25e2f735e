#pragma once

#include <string>

#include "calibrate/block/block_device.h"
#include "calibrate/cuda/cublaslt_plan.h"

namespace headway {

/// A block's row-major product in bf16 for a column-major library, the operands changing places.
[[nodiscard]] ColumnMajorProduct column_major(const BlockProduct& product, bool result_is_fp32);

/// Two products of the same name take the same plan.
[[nodiscard]] std::string product_name(const BlockProduct& product, bool result_is_fp32);

}  // namespace headway
