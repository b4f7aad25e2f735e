#pragma once

#include <cstdint>

#include "calibrate/suite/point.h"

namespace headway {

/// Runs a small product on random operands, with scales of blocks that differ where it has such,
/// and twice onto zeros where it adds up. Throws EnvironmentError where samples of the result are
/// not those of plain C++, and Refused where it cannot be run.
void check_product(const BatchedGemmPoint& point, std::uint32_t seed);

}  // namespace headway
