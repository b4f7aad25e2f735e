#include "sim/costs/nccl_constants.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/costs/accelerators.h"

namespace headway {
namespace {

TEST(NcclConstants, AFamilyIsTheNameUpToTheDash) {
  ASSERT_NE(nccl_node_costs("a100-sxm-40gb"), nullptr);
  ASSERT_NE(nccl_node_costs("a100-sxm-64gb"), nullptr);  // no profile has this one
  EXPECT_EQ(nccl_node_costs("a100-sxm-64gb")->step, nccl_node_costs("a100-sxm-80gb")->step);
  EXPECT_NE(nccl_node_costs("b200-sxm"), nccl_node_costs("gb200"));
  EXPECT_EQ(nccl_node_costs("any"), nullptr);
  EXPECT_EQ(nccl_node_costs("mi300x"), nullptr);  // it has a profile, and nobody's tables
  const std::vector<std::string> families = nccl_families();
  EXPECT_EQ(families.size(), 8U);
  EXPECT_EQ(std::ranges::count(families, "a100"), 1);
}

TEST(NcclConstants, NoRateExceedsTheDataSheet) {
  for (const Accelerator& accelerator : accelerators()) {
    if (!accelerator.nccl) continue;
    EXPECT_GT(accelerator.nccl->efficiency, 0.5) << accelerator.name;
    EXPECT_LT(accelerator.nccl->efficiency, 1.0) << accelerator.name;
    EXPECT_LT(accelerator.nccl->switch_efficiency, 1.0) << accelerator.name;
  }
}

TEST(NcclConstants, VoltasRingsFillMoreSlowly) {
  // NCCL 2.30.7, src/graph/tuning.cc: a plateau of 1.9 on Volta, of 1.4 since.
  EXPECT_EQ(nccl_node_costs("v100-sxm")->ring_plateau, 1.9);
  EXPECT_EQ(nccl_node_costs("h100-sxm")->ring_plateau, 1.4);
}

TEST(NcclConstants, OneNodeOfH100IsAsTheTableHasIt) {
  // aiconfigurator, H100, 8 accelerators, all-reduce of 512 B: 15.5 us; 14 steps of LL.
  const NcclNodeCosts& h100 = *nccl_node_costs("h100-sxm");
  EXPECT_NEAR((h100.overhead + 14.0 * h100.step).count(), 15.5e-6, 0.1 * 15.5e-6);
  // 512 MiB at 445 GB/s of bus bandwidth, 14/8 of the message: 2111 us. In the switches.
  const Seconds time =
      h100.overhead + h100.switch_overhead + 512_MiB / (h100.switch_efficiency * 450_GBps);
  EXPECT_NEAR(time.count(), 2111e-6, 0.1 * 2111e-6);
}

TEST(NcclConstants, LargeMessagesReachWhatWasPublishedOfThem) {
  // NCCL's developers: 370 GB/s of a ring on eight H100, and an algorithm bandwidth of 275 in the
  // switches. Tables that end at 512 MiB say 312 and 249.
  const NcclNodeCosts& h100 = *nccl_node_costs("h100-sxm");
  EXPECT_DOUBLE_EQ(h100.large_efficiency, 370.0 / 450.0);
  EXPECT_DOUBLE_EQ(h100.large_switch_efficiency, 275.0 / 450.0);
  EXPECT_GT(h100.large_efficiency, h100.efficiency);
  const NcclNodeCosts& v100 = *nccl_node_costs("v100-sxm");
  EXPECT_EQ(v100.large_efficiency, v100.efficiency);  // nothing is published
}

// NCCL's src/graph/tuning.cc: llMaxBws of two nodes, and of more.
TEST(NcclConstants, FlagsAreCheckedMoreSlowlyOverMoreNodes) {
  EXPECT_EQ(nccl_ll_bandwidth(2, false), 39.0_GBps);
  EXPECT_EQ(nccl_ll_bandwidth(3, false), 20.4_GBps);
  EXPECT_EQ(nccl_ll_bandwidth(2, true), 22.5_GBps);
  EXPECT_EQ(nccl_ll_bandwidth(3, true), 19.0_GBps);
}

TEST(NcclConstants, SmallMessagesDoNotFillATree) {
  // The table starts at 64 bytes and doubles: 64 KiB is entry 10, 64 MiB entry 20.
  EXPECT_EQ(nccl_tree_filling(NcclProtocol::ll, 8_B), 1.0);
  EXPECT_EQ(nccl_tree_filling(NcclProtocol::ll, 64_KiB), 0.6);
  EXPECT_EQ(nccl_tree_filling(NcclProtocol::simple, 64_MiB), 0.8);
  EXPECT_EQ(nccl_tree_filling(NcclProtocol::simple, 16_GiB), 1.0);
}

// The rows of treeCorrectionFactor in NCCL's src/graph/tuning.cc add up to 17.9, 19.0 and 17.1; no
// entry is above 1.
TEST(NcclConstants, TreeFillingIsNcclsTable) {
  const std::pair<NcclProtocol, double> sums[] = {
      {NcclProtocol::ll, 17.9}, {NcclProtocol::ll128, 19.0}, {NcclProtocol::simple, 17.1}};
  for (const auto& [protocol, sum] : sums) {
    double all = 0.0;
    double bytes = 64.0;
    for (int i = 0; i < 23; ++i, bytes *= 2.0) {
      const double filling = nccl_tree_filling(protocol, Bytes(bytes));
      EXPECT_LE(filling, 1.0);
      all += filling;
    }
    EXPECT_NEAR(all, sum, 1e-9) << word_of(protocol);
  }
}

}  // namespace
}  // namespace headway
