#include "sim/models/families.h"

#include <array>

namespace headway {

std::span<const ModelFamily> model_families() {
  static constexpr std::array kFamilies = {
      ModelFamily{"bert", read_bert},
      ModelFamily{"resnet", read_resnet},
      ModelFamily{"list", read_layer_list},
  };
  return kFamilies;
}

}  // namespace headway
