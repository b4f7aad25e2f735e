#include "sim/result/link_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hand_timeline.h"

namespace headway {
namespace {

using testing::ElementsAre;

/// a - b - c, 1 GB/s and 2 GB/s. Plan 0 goes from a to c, plan 1 loads b to c twice.
class LinkUseTest : public testing::Test {
 protected:
  LinkUseTest() {
    const VertexId a = topology.add_endpoint("a");
    const VertexId b = topology.add_switch("b", 0);
    const VertexId c = topology.add_endpoint("c");
    const LinkId first = topology.add_cable(a, b, 1_GBps, 0_s);
    const LinkId second = topology.add_cable(b, c, 2_GBps, 0_s);
    workload.plans[0].links = {{first, 1.0}, {second, 1.0}};
    workload.plans[1].links = {{second, 2.0}};
  }

  Topology topology;
  Workload workload = hand_workload();
  Timeline timeline = hand_timeline();  // 2 GB of each plan in 10.5 s
};

TEST_F(LinkUseTest, ALinkCarriesItsWeightOfEveryFlow) {
  EXPECT_THAT(bytes_by_link(workload, timeline, topology), ElementsAre(2e9, 0.0, 6e9, 0.0));
}

TEST_F(LinkUseTest, AFlowThatTakesLongerThanItsBytesCarriesThemAlone) {
  workload.plans[1].sent = 0.25;
  EXPECT_THAT(bytes_by_link(workload, timeline, topology), ElementsAre(2e9, 0.0, 3e9, 0.0));
}

TEST_F(LinkUseTest, TheBusiestComesFirst) {
  const auto busiest = busiest_links(workload, timeline, topology, 10);
  ASSERT_EQ(busiest.size(), 2U);  // links that carry nothing are left out
  EXPECT_EQ(busiest[0].from, "b");
  EXPECT_EQ(busiest[0].to, "c");
  EXPECT_EQ(busiest[0].capacity, 2_GBps);
  EXPECT_EQ(busiest[0].carried, 6_GB);
  EXPECT_DOUBLE_EQ(busiest[0].utilisation, 6.0 / (2.0 * 10.5));
  EXPECT_DOUBLE_EQ(busiest[1].utilisation, 2.0 / (1.0 * 10.5));
  EXPECT_EQ(busiest_links(workload, timeline, topology, 1).size(), 1U);
}

// All of 1 GB/s for 1.5 s, a tenth for 2 s, half of a tenth for 1 s and half for the 6 s that are
// left of 10.5 s.
TEST_F(LinkUseTest, ASlowLinkIsUsedOfWhatItStillCarries) {
  const LinkId first = workload.plans[0].links[0].link;
  const std::vector<LinkEpisode> episodes{
      {.link = first, .from = 1.5, .to = 4.5, .bandwidth_factor = 0.1},
      {.link = first, .from = 3.5, .bandwidth_factor = 0.5}};
  const double left = (1.5 + 2.0 * 0.1 + 1.0 * 0.05 + 6.0 * 0.5) / 10.5;
  const auto busiest = busiest_links(workload, timeline, topology, 2, episodes);
  EXPECT_EQ(busiest[0].from, "a");
  EXPECT_DOUBLE_EQ(busiest[0].capacity.count(), left * 1e9);
  EXPECT_DOUBLE_EQ(busiest[0].utilisation, 2.0 / (left * 10.5));
}

TEST_F(LinkUseTest, EquallyBusyOnesStandInTheOrderOfLinks) {
  workload.plans[1].links[0].weight = 1.0;  // 4 GB of 2 GB/s beside 2 GB of 1 GB/s
  const auto busiest = busiest_links(workload, timeline, topology, 2);
  EXPECT_EQ(busiest[0].from, "a");
  EXPECT_EQ(busiest[1].from, "b");
}

}  // namespace
}  // namespace headway
