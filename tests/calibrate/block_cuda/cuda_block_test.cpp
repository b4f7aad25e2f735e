#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "calibrate/block/transformer_block.h"
#include "calibrate/cpu/cpu_block_device.h"
#include "calibrate/cuda/block_product.h"
#include "calibrate/cuda/cuda_block_device.h"
#include "tests/calibrate/cuda/has_device.h"

namespace headway {
namespace {

TEST(BlockProduct, IsTheRowMajorOneWithItsOperandsExchanged) {
  // Two heads of 4 of a sequence of 3, queries, keys and values side by side in rows of 24.
  const BlockProduct product{{3, 3, 4}, GemmLayout::nt, {0, 24, 4}, {8, 24, 4}, {0, 3, 9}, 2, 0.5F};
  const ColumnMajorProduct scores = column_major(product, false);
  EXPECT_TRUE(scores.first_transposed);  // the keys, whose rows are columns to the library
  EXPECT_FALSE(scores.second_transposed);
  EXPECT_EQ(scores.first.rows, 4);
  EXPECT_EQ(scores.first.columns, 3);
  EXPECT_EQ(scores.first.leading, 24);
  EXPECT_EQ(scores.first.stride, 4);
  EXPECT_EQ(scores.result.leading, 3);
  EXPECT_EQ(scores.result.stride, 9);
  EXPECT_EQ(scores.result.type, CUDA_R_16BF);
  EXPECT_EQ(scores.batch, 2);
  EXPECT_EQ(column_major(product, true).result.type, CUDA_R_32F);
  EXPECT_NE(product_name(product, true), product_name(product, false));
}

/// sqrt(sum of squared differences / sum of squares).
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

TEST(CudaBlockDevice, TrainsAsItsCpuTwinDoes) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device can be used here";
  const BlockShape shape{.sequences = 2, .sequence = 1024, .hidden = 1024, .heads = 16};
  CpuBlockDevice core;
  CudaBlockDevice device(0);
  TransformerBlock by_core(core, shape, 3);
  TransformerBlock by_device(device, shape, 3);
  for (TransformerBlock* block : {&by_core, &by_device}) {
    block->forward();
    block->backward();
    block->update();
  }
  // bf16 keeps 8 bits: each rounding is off by up to 0.4 %, and signs of gradients near 0, on which
  // Adam's first step hangs, turn. Wrong operands would make it 1 and more.
  constexpr double kTolerance = 0.1;
  EXPECT_LT(relative_difference(device.values(by_device.output()), core.values(by_core.output())),
            kTolerance);
  for (std::size_t i = 0; i < by_core.weights().size(); ++i) {
    const auto w = by_core.weights()[i];
    const auto v = by_device.weights()[i];
    EXPECT_LT(relative_difference(device.values(device.gradient(v)), core.values(core.gradient(w))),
              kTolerance)
        << i;
    EXPECT_LT(relative_difference(device.values(v), core.values(w)), kTolerance) << i;
  }
}

}  // namespace
}  // namespace headway
