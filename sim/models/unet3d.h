#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/layers/model.h"

namespace headway {

/// A network that tells the parts of volumes apart (Cicek et al. 2016, arXiv:1606.06650), as
/// MLPerf Training has it (KiTS19): pairs of 3 x 3 x 3 convolutions, each normalised, halved by
/// strides on the way down and doubled by transposed convolutions on the way up, where what left
/// the same level on the way down stands beside.
struct Unet3dModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> widths = {32, 64, 128, 256, 320, 320};  ///< of each level
  std::int64_t volume_size = 128;                                   ///< of a side
  std::int64_t classes = 3;
};

/// A layer is a level, once on the way down and once on the way up; a token a volume.
[[nodiscard]] Model layers_of(const Unet3dModel& fields);

}  // namespace headway
