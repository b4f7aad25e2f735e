// Scans of states on the round device: 10 TFLOP/s in fp32, passes at 0.5 TB/s.
#include <gtest/gtest.h>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/work_cost.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

TEST(ScanCost, IsTheLongerOfItsOperationsAndItsBytes) {
  const DeviceCosts device = even_profile().device;
  // 1e10 at half of 10 TFLOP/s: 2 ms, beside 5e8 bytes, 1 ms, and 2e9 bytes, 4 ms.
  EXPECT_NEAR(scan_cost(device, Flops(1e10), Bytes(5e8)).time.count(), 2e-3, 1e-15);
  EXPECT_NEAR(scan_cost(device, Flops(1e10), Bytes(2e9)).time.count(), 4e-3, 1e-15);
  EXPECT_GE(scan_cost(device, Flops(1e10), Bytes(5e8)).spread, 0.5);
  EXPECT_GE(scan_cost(device, Flops(1e10), Bytes(2e9)).spread, 0.5);
}

TEST(ScanCost, OfADeviceWithoutPlainCoresIsThatOfWhatItHas) {
  DeviceCosts device = even_profile().device;
  device.peak_flops.erase(Precision::fp32);
  device.gemm_efficiency.erase(Precision::fp32);
  const double peak = device.peak_flops.at(Precision::bf16).value;
  EXPECT_NEAR(scan_cost(device, Flops(peak), Bytes(0.0)).time.count(), 2.0, 1e-12);
}

TEST(ScanCost, OfWorkIsThatOfEachPass) {
  const Profile profile = even_profile();
  Work work;
  work.scans.push_back({.forward = Flops(1e10),
                        .backward = Flops(4e10),
                        .forward_moved = Bytes(2e9),
                        .backward_moved = Bytes(1e9),
                        .again = {{RecomputePart::alternate, 0.5}}});
  const WorkCost cost = work_cost(work, {.profile = profile,
                                         .family = profile.kernel_families.at("fused"),
                                         .precision = Precision::bf16,
                                         .again = {RecomputePart::alternate}});
  EXPECT_NEAR(cost.forward.time().count(), 4e-3, 1e-15);
  EXPECT_NEAR(cost.backward.time().count(), 8e-3, 1e-15);
  EXPECT_NEAR(cost.again.count(), 2e-3, 1e-15);
}

}  // namespace
}  // namespace headway
