#pragma once

#include <cstdint>
#include <string>

#include "sim/layers/model.h"

namespace headway {

/// AlexNet in one column (Krizhevsky 2014, arXiv:1404.5997), as torchvision builds it, for images
/// of 224 pixels.
struct AlexNetModel {
  std::string name = {};
  std::string source = {};
  std::int64_t hidden = 4096;  ///< of the two fully connected layers in front of the last
  std::int64_t classes = 1000;
};

/// A layer is a convolution or a fully connected layer, a token an image.
[[nodiscard]] Model layers_of(const AlexNetModel& fields);

}  // namespace headway
