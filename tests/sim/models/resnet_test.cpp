#include "sim/models/resnet.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

TEST(ResNet, Has25557032ParametersAnd4GigaMultiplications) {
  // torchvision.models.resnet50: 25,557,032 parameters, 4.09 GMAC at 224 x 224.
  const Model model = layers_of(ResNetModel{});
  EXPECT_EQ(model.layer_count(), 16);
  EXPECT_EQ(parameter_count(model), 25'557'032);
  EXPECT_NEAR(forward_flops(model, 1).total().count() / 2e9, 4.089, 0.0005);
}

TEST(ResNet, SmallOnesHaveTheirPublishedParameters) {
  // torchvision.models.resnet18, resnet34 and resnet101.
  EXPECT_EQ(parameter_count(layers_of(ResNetModel{.blocks = {2, 2, 2, 2}, .bottleneck = false})),
            11'689'512);
  EXPECT_EQ(parameter_count(layers_of(ResNetModel{.blocks = {3, 4, 6, 3}, .bottleneck = false})),
            21'797'672);
  EXPECT_EQ(parameter_count(layers_of(ResNetModel{.blocks = {3, 4, 23, 3}})), 44'549'160);
}

TEST(ResNet, ImagesAreRowsOfItsProducts) {
  // The first block of the second stage: 256 channels at 56 x 56, 128 at 28 x 28, for 32 images.
  const Model model = layers_of(ResNetModel{});
  const Work block = work(model.layer(3), {.micro_batch = 32});
  ASSERT_EQ(block.linears.size(), 4U);
  EXPECT_EQ(block.linears[0].forward, (GemmShape{32.0 * 56 * 56, 128, 256}));
  EXPECT_EQ(block.linears[1].forward, (GemmShape{32.0 * 28 * 28, 128, 9 * 128}));
  EXPECT_EQ(block.linears[2].forward, (GemmShape{32.0 * 28 * 28, 512, 128}));
  EXPECT_EQ(block.linears[3].forward, (GemmShape{32.0 * 28 * 28, 512, 256}));
}

TEST(ResNet, NothingInFrontOfTheStemIsTrained) {
  const Work stem = work(layers_of(ResNetModel{}).first, {});
  ASSERT_EQ(stem.linears.size(), 1U);
  EXPECT_FALSE(stem.linears[0].input_gradient);
}

// Pooling reads 64 channels at 112 x 112 and writes them at 56 x 56, 2 bytes each.
TEST(ResNet, PoolingMovesWhatItTakesAndGives) {
  const Work stem = work(layers_of(ResNetModel{}).first, {});
  EXPECT_EQ(stem.passes.back().name, "pool");
  EXPECT_DOUBLE_EQ(stem.passes.back().forward.count(), 2.0 * 64 * (112 * 112 + 56 * 56));
}

TEST(ResNet, KeepsWhatConvolutionsGiveAndTake) {
  // The second block: inputs of three norms of 64, 64 and 256 channels at 56 x 56, outputs of the
  // rectifiers behind them; the latter are cheap to make again.
  const Layer& block = layers_of(ResNetModel{}).layer(1);
  const double each = 56 * 56 * (64 + 64 + 256) * 2.0;
  EXPECT_DOUBLE_EQ(kept_bytes(block, {}).count(), 2.0 * each);
  EXPECT_DOUBLE_EQ(kept_bytes(block, {}, {RecomputePart::activation}).count(), each);
  EXPECT_DOUBLE_EQ(input_bytes(block, {.micro_batch = 3}).count(), 3 * 56 * 56 * 256 * 2.0);
}

}  // namespace
}  // namespace headway
