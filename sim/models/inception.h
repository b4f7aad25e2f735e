#pragma once

#include <cstdint>
#include <string>

#include "sim/layers/model.h"

namespace headway {

/// Inception-v3 (Szegedy et al. 2015, arXiv:1512.00567, table 1), as torchvision builds it, without
/// the auxiliary classifier.
struct InceptionModel {
  std::string name = {};
  std::string source = {};
  std::int64_t image_size = 299;  ///< pixels a side
  std::int64_t classes = 1000;
};

/// A layer is a convolution of the stem or a module, a token an image.
[[nodiscard]] Model layers_of(const InceptionModel& fields);

}  // namespace headway
