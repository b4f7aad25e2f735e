// Networks of convolutions, against what was published of them.
#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/alexnet.h"
#include "sim/models/inception.h"
#include "sim/models/unet3d.h"

namespace headway {
namespace {

// torchvision.models.inception_v3: 27,161,264 parameters less 3,326,696 of the auxiliary
// classifier; 5.71 GMAC at 299 x 299, the auxiliary classifier apart.
TEST(Inception, Has23834568ParametersAnd5GigaMultiplications) {
  const Model model = layers_of(InceptionModel{});
  EXPECT_EQ(parameter_count(model), 27'161'264 - 3'326'696);
  EXPECT_NEAR(forward_flops(model, 1).total().count() / 2e9, 5.71, 0.005);
}

// Positions shrink 299, 149, 147, 73, 71, 35, 17, 8 (Szegedy et al. 2015, table 1).
TEST(Inception, EndsWithEightPositionsOf2048Channels) {
  const Model model = layers_of(InceptionModel{});
  EXPECT_EQ(model.layer(model.layer_count() - 1).output, 2048.0 * 8.0 * 8.0);
  EXPECT_EQ(model.layer(0).output, 32.0 * 149.0 * 149.0);
}

// 3 x 3 at every second position meet an element 9/4 times; at every one 9 times, with 16
// multiplications for 36; 1 x 1 once. Kernels reach 0.75 of products.
TEST(Inception, ConvolutionsSayHowOftenTheyMeetAnElement) {
  const Model model = layers_of(InceptionModel{});
  const Product& halved = model.layer(0).products.front();
  EXPECT_EQ(halved.reuse, 2.25);
  EXPECT_EQ(halved.filtering, 0.75);
  const Product& every = model.layer(1).products.front();
  EXPECT_EQ(every.reuse, 9.0);
  EXPECT_EQ(every.filtering, 0.75 * 36 / 16);
  const Product& single = model.layer(4).products.front();
  EXPECT_EQ(single.reuse, 1.0);
  EXPECT_EQ(single.filtering, 0.75);
}

// torchvision.models.alexnet: 61,100,840 parameters, 0.71 GMAC.
TEST(AlexNet, Has61100840Parameters) {
  const Model model = layers_of(AlexNetModel{});
  EXPECT_EQ(parameter_count(model), 61'100'840);
  EXPECT_NEAR(forward_flops(model, 1).total().count() / 2e9, 0.71, 0.005);
}

// One level: 27 (1 x 4 + 4 x 4) weights, two norms of 2 x 4, and 4 x 3 + 3 of the classes; of 8^3
// voxels each.
TEST(Unet3d, OfOneLevelIsAPairOfConvolutions) {
  const Model model = layers_of(Unet3dModel{.widths = {4}, .volume_size = 8});
  EXPECT_EQ(parameter_count(model), 27 * 20 + 16 + 15);
  EXPECT_DOUBLE_EQ(forward_flops(model, 1).total().count() / 2.0, 512.0 * (27 * 20 + 12));
}

// A second level of 8 channels and 4^3 voxels: 27 (4 x 8 + 8 x 8) down, 8 x 4 x 8 up, then
// 27 (8 x 4 + 4 x 4) beside what came down.
TEST(Unet3d, LevelsGoDownAndUp) {
  const Model one = layers_of(Unet3dModel{.widths = {4}, .volume_size = 8});
  const Model two = layers_of(Unet3dModel{.widths = {4, 8}, .volume_size = 8});
  EXPECT_EQ(parameter_count(two) - parameter_count(one), 27 * 96 + 2 * 16 + 256 + 27 * 48 + 2 * 8);
  const double down = 64.0 * 27 * 96;
  const double up = 64.0 * 8 * 4 * 8 + 512.0 * 27 * 48;
  EXPECT_DOUBLE_EQ(
      (forward_flops(two, 1).total().count() - forward_flops(one, 1).total().count()) / 2.0,
      down + up);
}

}  // namespace
}  // namespace headway
