#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// A residual convolutional network (He et al. 2015, arXiv:1512.03385, table 1), as torchvision
/// builds it: the stride of a stage stands in its first 3 x 3 convolution.
struct ResNetModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> blocks = {3, 4, 6, 3};  ///< of each stage
  bool bottleneck = true;         ///< 1 x 1, 3 x 3, 1 x 1 with four times the width; else two 3 x 3
  std::int64_t width = 64;        ///< of the stem and the first stage; doubles with each stage
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t classes = 1000;
};

/// A layer is a residual block, a token an image: rows of its products are positions. Convolutions
/// are products [positions x k k channels] (implicit GEMM, which moves nothing to lay them out), on
/// which tensor parallelism has no bearing.
[[nodiscard]] Model layers_of(const ResNetModel& fields);

[[nodiscard]] const FieldTable<ResNetModel>& resnet_fields();

/// Reports a list of blocks, under this key, that has none.
void check_blocks(ObjectReader& reader, std::string_view key, ResNetModel& fields);

}  // namespace headway
