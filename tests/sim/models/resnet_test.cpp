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

// 53 convolutions with a gain and a bias of their norm each, and the last product with its bias.
TEST(ResNet, Has161Tensors) {
  const Model model = layers_of(ResNetModel{});
  double tensors = parameter_tensors(model.first) + parameter_tensors(model.last);
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    tensors += parameter_tensors(model.layer(layer));
  }
  EXPECT_EQ(tensors, 53 * 3 + 2);
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
  EXPECT_DOUBLE_EQ(layers_of(ResNetModel{}).first.output, 64.0 * 56 * 56);
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

TEST(ResNet, StepsOfTheStemReuseLessOfAnImage) {
  // Each pixel is in 7 x 7 windows, of which every second is taken each way; in a block 3 x 3 of
  // step 1 in 9, of step 2 in 9 / 4.
  const Model model = layers_of(ResNetModel{});
  EXPECT_DOUBLE_EQ(work(model.first, {}).linears[0].reuse, 49.0 / 4.0);
  EXPECT_DOUBLE_EQ(work(model.layer(1), {}).linears[1].reuse, 9.0);
  EXPECT_DOUBLE_EQ(work(model.layer(3), {}).linears[1].reuse, 9.0 / 4.0);
  EXPECT_DOUBLE_EQ(work(model.layer(3), {}).linears[0].reuse, 1.0);
}

/// All of the second block's together.
PassWork passes_of_a_block(const RankShape& shape) {
  PassWork all;
  for (const PassWork& pass : work(layers_of(ResNetModel{}).layer(1), shape).passes) {
    all.forward += pass.forward;
    all.backward += pass.backward;
  }
  return all;
}

// Of 2-byte elements a norm reads two and writes one, five backward; a rectifier two, three
// backward; the sum three and three.
TEST(ResNet, ABlockMovesItsNormsRectifiersAndSum) {
  const PassWork moved = passes_of_a_block({.fused_normalization = false});
  const double normed = 56 * 56 * (64 + 64 + 256);
  const double sum = 56 * 56 * 256;
  EXPECT_DOUBLE_EQ(moved.forward.count(), 6 * normed + 4 * normed + 6 * sum);
  EXPECT_DOUBLE_EQ(moved.backward.count(), 10 * normed + 6 * normed + 6 * sum);
}

// Its convolution has summed up what a norm needs to know, which reads and writes then, and marks
// with a bit what the rectifier let through; the shortcut is read. Backward gradient and input are
// read twice, the bit too, and a gradient written; that of the shortcut is written, and read again.
TEST(ResNet, MergedNormsTakeRectifiersAndSumsAlong) {
  const PassWork moved = passes_of_a_block({.fused_normalization = true});
  const double normed = 56 * 56 * (64 + 64 + 256);
  const double sum = 56 * 56 * 256;
  EXPECT_DOUBLE_EQ(moved.forward.count(), 4.125 * normed + 2 * sum);
  EXPECT_DOUBLE_EQ(moved.backward.count(), 10.25 * normed + 4 * sum);
}

TEST(ResNet, LaunchesAnOperatorForEachProductAndPass) {
  // Three products, three norms, three rectifiers and the sum; backward two for each product. The
  // stem has nothing in front of it that is trained: one; and a pooling. Each takes 0.6 of what a
  // transformer's kernel does.
  const Model model = layers_of(ResNetModel{});
  EXPECT_DOUBLE_EQ(model.layer(1).launches.forward, 0.6 * (3 + 3 + 3 + 1));
  EXPECT_DOUBLE_EQ(model.layer(1).launches.backward, 0.6 * (6 + 3 + 3 + 1));
  EXPECT_DOUBLE_EQ(model.first.launches.forward, 0.6 * (1 + 2 + 1));
  EXPECT_DOUBLE_EQ(model.first.launches.backward, 0.6 * (1 + 2 + 1));
}

// PyTorch's own kernels: norms at half of the rate of copies and at five eighths; a pool of 64
// channels at 112 x 112 moves 2 bytes of 4 + 1 elements for each that comes out, and takes nine
// taps in the time of 7 and 12 bytes each.
TEST(ResNet, FrameworksNormaliseAndPoolImagesMoreSlowly) {
  const Model model = layers_of(ResNetModel{});
  const RankShape own{.fused_normalization = false, .framework_images = true};
  const PassWork norm = work(model.layer(1), own).passes.front();
  EXPECT_EQ(norm.forward_rate, 0.5);
  EXPECT_EQ(norm.backward_rate, 0.625);
  const PassWork pool = work(model.first, own).passes.back();
  EXPECT_EQ(pool.name, "pool");
  EXPECT_DOUBLE_EQ(pool.forward_rate, 10.0 / (7.0 * 9.0));
  EXPECT_DOUBLE_EQ(pool.backward_rate, 10.0 / (12.0 * 9.0));
  const RankShape library{.fused_normalization = false};
  EXPECT_EQ(work(model.layer(1), library).passes.front().forward_rate, 1.0);
  EXPECT_EQ(work(model.first, library).passes.back().backward_rate, 1.0);
}

}  // namespace
}  // namespace headway
