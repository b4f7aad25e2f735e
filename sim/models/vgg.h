#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/layers/model.h"

namespace headway {

/// A plain convolutional network (Simonyan and Zisserman 2014, arXiv:1409.1556, table 1), as
/// torchvision builds it: stages of 3 x 3 convolutions, a pooling behind each, three fully
/// connected layers.
struct VggModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> convolutions = {2, 2, 3, 3, 3};  ///< of each stage: VGG-16
  bool batch_norm = false;
  std::int64_t width = 64;     ///< of the first stage; doubles with each stage, up to eight times
  std::int64_t hidden = 4096;  ///< of the two fully connected layers in front of the last
  std::int64_t image_size = 224;
  std::int64_t classes = 1000;
};

/// A layer is a stage or a fully connected layer, a token an image.
[[nodiscard]] Model layers_of(const VggModel& fields);

}  // namespace headway
