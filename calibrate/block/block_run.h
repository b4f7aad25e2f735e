#pragma once

#include <cstdint>

#include "calibrate/block/transformer_block.h"

namespace headway {

/// What steps of a transformer block took: forward, backward and update.
struct BlockRun {
  BlockShape shape;
  Precision precision = Precision::fp32;
  int steps = 0;
  Seconds time;         ///< median
  double spread = 0.0;  ///< 1.4826 MAD over the median
};

/// Trains for some steps that are not looked at, and then for as many as take about `duration`, but
/// no fewer than five. Throws what the device throws, and Interrupted.
[[nodiscard]] BlockRun measured_block(BlockDevice& device, const BlockShape& shape,
                                      std::uint64_t seed, Seconds duration);

}  // namespace headway
