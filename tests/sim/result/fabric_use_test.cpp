#include "sim/result/fabric_use.h"

#include <gtest/gtest.h>

#include "hand_timeline.h"

namespace headway {
namespace {

/// Two NICs under a leaf each, one spine; NICs at 1 GB/s, uplinks at 2 GB/s. 2 GB of plan 0 go from
/// one NIC to the other, and plan 1 loads the first uplink twice with 2 GB, in 10.5 s.
class FabricUseTest : public testing::Test {
 protected:
  FabricUseTest() {
    const VertexId a = topology.add_endpoint("node0/nic0");
    const VertexId b = topology.add_endpoint("node1/nic0");
    const VertexId left = topology.add_switch("leaf/0", 0);
    const VertexId right = topology.add_switch("leaf/1", 0);
    const VertexId spine = topology.add_switch("spine/0", 1);
    const LinkId up_a = topology.add_cable(a, left, 1_GBps, 0_s);
    const LinkId up_b = topology.add_cable(b, right, 1_GBps, 0_s);
    const LinkId up_left = topology.add_cable(left, spine, 2_GBps, 0_s);
    up_right = topology.add_cable(right, spine, 2_GBps, 0_s);
    workload.plans[0].links = {{up_a, 1.0},
                               {up_left, 1.0},
                               {Topology::reverse(up_right), 1.0},
                               {Topology::reverse(up_b), 1.0}};
    workload.plans[1].links = {{up_left, 2.0}};
  }

  Topology topology;
  LinkId up_right = -1;
  Workload workload = hand_workload();
  Timeline timeline = hand_timeline();
};

TEST_F(FabricUseTest, TiersAreCalledLikeTheirSwitches) {
  const FabricUse use = fabric_use(workload, timeline, topology);
  ASSERT_EQ(use.tiers.size(), 3U);
  EXPECT_EQ(use.tiers[0].name, "NIC ports");
  EXPECT_EQ(use.tiers[0].count, 2);
  EXPECT_EQ(use.tiers[1].name, "leaf switches");
  EXPECT_EQ(use.tiers[1].count, 2);
  EXPECT_EQ(use.tiers[2].name, "switch of tier 1");  // one alone says little of the tier
}

TEST_F(FabricUseTest, CablesBetweenTwoTiersAreSummedByDirection) {
  const FabricUse use = fabric_use(workload, timeline, topology);
  ASSERT_EQ(use.cables.size(), 2U);
  const FabricUse::Cables& nics = use.cables[0];
  EXPECT_EQ(nics.cables, 2);
  EXPECT_EQ(nics.up.carried, 2_GB);
  EXPECT_EQ(nics.up.capacity, 2_GBps);
  EXPECT_DOUBLE_EQ(nics.up.utilisation, 2.0 / (2.0 * 10.5));
  EXPECT_DOUBLE_EQ(nics.up.highest, 2.0 / (1.0 * 10.5));  // node 0's
  EXPECT_EQ(nics.down.carried, 2_GB);
  const FabricUse::Cables& uplinks = use.cables[1];
  EXPECT_EQ(uplinks.lower, 1);
  EXPECT_EQ(uplinks.upper, 2);
  EXPECT_EQ(uplinks.up.carried, 6_GB);  // 2 of plan 0, twice 2 of plan 1
  EXPECT_DOUBLE_EQ(uplinks.up.utilisation, 6.0 / (4.0 * 10.5));
  EXPECT_DOUBLE_EQ(uplinks.up.highest, 6.0 / (2.0 * 10.5));
  EXPECT_EQ(uplinks.down.carried, 2_GB);
}

TEST_F(FabricUseTest, ASlowLinkCountsAsWhatIsLeftOfIt) {
  const LinkId nic = workload.plans[0].links[0].link;  // of node 0
  const std::vector<LinkEpisode> episodes{{.link = nic, .bandwidth_factor = 0.25}};
  const FabricUse use = fabric_use(workload, timeline, topology, episodes);
  EXPECT_EQ(use.cables[0].up.capacity, 1.25_GBps);
  EXPECT_DOUBLE_EQ(use.cables[0].up.highest, 2.0 / (0.25 * 10.5));
  EXPECT_EQ(use.cables[0].down.capacity, 2_GBps);
}

TEST_F(FabricUseTest, CablesThatAreDownAreLeftOut) {
  topology.take_down(up_right);
  const FabricUse use = fabric_use(workload, timeline, topology);
  EXPECT_EQ(use.cables[1].cables, 1);
  EXPECT_EQ(use.cables[1].up.capacity, 2_GBps);
}

TEST_F(FabricUseTest, CablesInsideATierCountBothWaysAsUp) {
  Topology ring;
  const VertexId a = ring.add_endpoint("a");
  const VertexId b = ring.add_endpoint("b");
  const LinkId link = ring.add_cable(a, b, 1_GBps, 0_s);
  workload.plans[0].links = {{link, 1.0}};
  workload.plans[1].links = {{Topology::reverse(link), 2.0}};
  const FabricUse use = fabric_use(workload, timeline, ring);
  ASSERT_EQ(use.cables.size(), 1U);
  EXPECT_EQ(use.cables[0].up.carried, 6_GB);
  EXPECT_EQ(use.cables[0].up.capacity, 2_GBps);
  EXPECT_EQ(use.cables[0].down.carried, 0_GB);
}

}  // namespace
}  // namespace headway
