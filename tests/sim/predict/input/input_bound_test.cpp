#include "sim/predict/input/input_bound.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// MLPerf Storage's UNet3D on an H100: 7 samples of 146,600,628 bytes every 0.323 s.
const InputDemand kUnet{.batch = Bytes(7.0 * 146'600'628.0), .compute = Seconds(0.323)};

TEST(InputBound, AnAcceleratorDrawsItsBatches) {
  EXPECT_NEAR(demand_at(kUnet, 1.0).count(), 3.1771e9, 1e5);
  EXPECT_NEAR(demand_at(kUnet, 0.9).count(), 2.8594e9, 1e5);
}

TEST(InputBound, AStepIsTheLongerOfReadingAndComputing) {
  EXPECT_EQ(input_bound_step(kUnet, BytesPerSecond(4e9)), Seconds(0.323));
  EXPECT_DOUBLE_EQ(input_bound_step(kUnet, BytesPerSecond(1e9)).count(), 7.0 * 0.146600628);
}

// 20 GB/s / 2.8594 GB/s = 6.99: the seventh would push all below nine tenths.
TEST(InputBound, AStoreFeedsAsManyAsStayAboveTheFloor) {
  EXPECT_EQ(accelerators_fed(kUnet, BytesPerSecond(20e9), 0.9), 6);
  EXPECT_EQ(accelerators_fed(kUnet, BytesPerSecond(20.02e9), 0.9), 7);
  const BytesPerSecond share = BytesPerSecond(20.02e9) / 7.0;
  EXPECT_GE(kUnet.compute / input_bound_step(kUnet, share), 0.9);
}

}  // namespace
}  // namespace headway
