#include "sim/models/vgg.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

TEST(Vgg, HasThePublishedParametersAndMultiplications) {
  // torchvision.models.vgg16: 138,357,544 parameters, 15.47 GMAC; vgg11: 132,863,336, 7.61 GMAC;
  // vgg16_bn: 138,365,992.
  const Model vgg16 = layers_of(VggModel{});
  EXPECT_EQ(parameter_count(vgg16), 138'357'544);
  EXPECT_NEAR(forward_flops(vgg16, 1).total().count() / 2e9, 15.47, 0.005);
  const Model vgg11 = layers_of(VggModel{.convolutions = {1, 1, 2, 2, 2}});
  EXPECT_EQ(parameter_count(vgg11), 132'863'336);
  EXPECT_NEAR(forward_flops(vgg11, 1).total().count() / 2e9, 7.61, 0.005);
  EXPECT_EQ(parameter_count(layers_of(VggModel{.batch_norm = true})), 138'365'992);
}

TEST(Vgg, NothingInFrontOfTheFirstConvolutionIsTrained) {
  const Work first = work(layers_of(VggModel{}).layer(0), {});
  ASSERT_EQ(first.linears.size(), 2U);
  EXPECT_FALSE(first.linears[0].input_gradient);
  EXPECT_TRUE(first.linears[1].input_gradient);
  EXPECT_TRUE(work(layers_of(VggModel{}).layer(1), {}).linears[0].input_gradient);
}

// Outputs of two rectifiers of 64 channels at 224 x 224, which the next convolution and the pooling
// take; what the pooling gives, and in 8 bytes where it stood; a fully connected layer its input,
// its output and a mask of a byte. Images are there in fp32 and as the first convolution takes
// them.
TEST(Vgg, KeepsWhatRectifiersLetThrough) {
  const Model model = layers_of(VggModel{});
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(0), {}, {}).count(),
                   2.0 * 2 * 64 * 224 * 224 + (2.0 + 8.0) * 64 * 112 * 112);
  EXPECT_DOUBLE_EQ(kept_bytes(model.first, {}, {}).count(), (4.0 + 2.0) * 3 * 224 * 224);
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(6), {}, {}).count(), 2.0 * 2 * 4096 + 4096);
}

}  // namespace
}  // namespace headway
