#include "sim/network/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two endpoints on a switch that forwards in 200 ns.
struct Star {
  Topology topology;
  VertexId a = topology.add_endpoint("a");
  VertexId b = topology.add_endpoint("b");
  VertexId center = topology.add_switch("center", 0, 200_ns);
  LinkId a_up = topology.add_cable(a, center, 50_GBps, 10_ns);
  LinkId b_up = topology.add_cable(b, center, 25_GBps, 10_ns, 1, 7);
};

TEST(Topology, CountsWhatItIsMadeOf) {
  const Star star;
  EXPECT_EQ(star.topology.vertex_count(), 3);
  EXPECT_EQ(star.topology.endpoint_count(), 2);
  EXPECT_EQ(star.topology.switch_count(), 1);
  EXPECT_EQ(star.topology.cable_count(), 2);
  EXPECT_EQ(star.topology.link_count(), 4);
}

TEST(Topology, BothDirectionsOfACableAreLinks) {
  const Star star;
  const Link& up = star.topology.link(star.b_up);
  const Link& down = star.topology.link(Topology::reverse(star.b_up));
  EXPECT_EQ(up.from, star.b);
  EXPECT_EQ(up.to, star.center);
  EXPECT_EQ(down.from, star.center);
  EXPECT_EQ(down.to, star.b);
  EXPECT_EQ(up.capacity, 25_GBps);
  EXPECT_EQ(down.capacity, 25_GBps);
  EXPECT_EQ(down.from_port, 7);
  EXPECT_EQ(down.to_port, 1);
}

TEST(Topology, AMessageWaitsInTheSwitchThatItArrivesAt) {
  const Star star;
  EXPECT_EQ(star.topology.latency(star.a_up), 10_ns + 200_ns);
  EXPECT_EQ(star.topology.latency(Topology::reverse(star.a_up)), 10_ns);
}

TEST(Topology, AnOpenPortFollowsTheHighest) {
  Star star;
  EXPECT_EQ(star.topology.link(star.a_up).to_port, 1);
  const VertexId c = star.topology.add_endpoint("c");
  const LinkId up = star.topology.add_cable(c, star.center, 50_GBps, 10_ns);
  EXPECT_EQ(star.topology.link(up).from_port, 1);
  EXPECT_EQ(star.topology.link(up).to_port, 8);
}

TEST(Topology, KnowsVerticesByName) {
  const Star star;
  EXPECT_EQ(star.topology.find("center"), star.center);
  EXPECT_EQ(star.topology.find("centre"), -1);
  EXPECT_EQ(star.topology.name(star.b), "b");
  EXPECT_EQ(star.topology.tier(star.b), -1);
  EXPECT_EQ(star.topology.tier(star.center), 0);
}

TEST(Topology, ListsLinksInTheOrderTheyWereAdded) {
  const Star star;
  EXPECT_THAT(star.topology.links_from(star.center),
              ElementsAre(Topology::reverse(star.a_up), Topology::reverse(star.b_up)));
  EXPECT_THAT(star.topology.links_from(star.a), ElementsAre(star.a_up));
}

TEST(Topology, EndpointsForwardOnlyWhereThereIsNoSwitch) {
  Star star;
  EXPECT_FALSE(star.topology.forwards(star.a));
  EXPECT_TRUE(star.topology.forwards(star.center));
  Topology pair;
  EXPECT_TRUE(pair.forwards(pair.add_endpoint("a")));
  EXPECT_THAT(pair.links_from(0), IsEmpty());
}

TEST(Topology, RefusesWhatCannotBeCabled) {
  Star star;
  EXPECT_THROW(star.topology.add_cable(star.a, star.a, 50_GBps, 0_s), InternalError);
  EXPECT_THROW(star.topology.add_cable(star.a, 99, 50_GBps, 0_s), InternalError);
  EXPECT_THROW(star.topology.add_cable(star.a, star.b, 0_GBps, 0_s), InternalError);
}

}  // namespace
}  // namespace headway
