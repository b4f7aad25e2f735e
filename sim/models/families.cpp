#include "sim/models/families.h"

#include <array>

namespace headway {

std::span<const ModelFamily> model_families() {
  // A list of layers stands last: it is what an array of layers is.
  static const std::array kFamilies = {
      bert(),    t5(),     resnet(), vgg(),  vision_transformer(), inception(),
      alexnet(), unet3d(), dlrm(),   lstm(), layer_list()};
  return kFamilies;
}

}  // namespace headway
