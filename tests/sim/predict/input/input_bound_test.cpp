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

}  // namespace
}  // namespace headway
