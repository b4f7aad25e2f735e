#include "sim/layers/kernel_shape.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// A byte an element, of blocks with a scale of a byte for 32 or of four for 128; of 4 bits with
// theirs.
TEST(QuantisedTensors, TakeTheirScalesBesideTheirElements) {
  for (const Scaling of_tensors : {Scaling::delayed, Scaling::current, Scaling::rowwise}) {
    EXPECT_EQ(bytes_per_element(of_tensors), 1.0);
  }
  EXPECT_EQ(bytes_per_element(Scaling::mxfp8), 1.0 + 1.0 / 32.0);
  EXPECT_EQ(bytes_per_element(Scaling::blockwise), 1.0 + 4.0 / 128.0);
  EXPECT_EQ(bytes_per_element(Scaling::nvfp4), bytes_per_element(Precision::fp4));
  EXPECT_EQ(bytes_per_element(Precision::fp4), 0.5 + 1.0 / 16.0);  // a byte of scale for 16
  EXPECT_LT(bytes_per_element(Scaling::nvfp4), bytes_per_element(Precision::fp8));
}

}  // namespace
}  // namespace headway
