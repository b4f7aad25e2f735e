#include "sim/models/families.h"

#include <array>

namespace headway {

// Each is defined in the file that bears its name.
ModelFamily alexnet();
ModelFamily bert();
ModelFamily clip();
ModelFamily convnext();
ModelFamily diffusion_transformer();
ModelFamily dlrm();
ModelFamily inception();
ModelFamily layer_list();
ModelFamily lstm();
ModelFamily mobilebert();
ModelFamily resnet();
ModelFamily swin();
ModelFamily t5();
ModelFamily unet3d();
ModelFamily vgg();
ModelFamily vision_transformer();
ModelFamily wav2vec2();
ModelFamily whisper();

std::span<const ModelFamily> model_families() {
  // A list of layers stands last: it is what an array of layers is.
  static const std::array kFamilies = {bert(),      mobilebert(), t5(),
                                       whisper(),   wav2vec2(),   resnet(),
                                       convnext(),  vgg(),        vision_transformer(),
                                       swin(),      clip(),       diffusion_transformer(),
                                       inception(), alexnet(),    unet3d(),
                                       dlrm(),      lstm(),       layer_list()};
  return kFamilies;
}

}  // namespace headway
