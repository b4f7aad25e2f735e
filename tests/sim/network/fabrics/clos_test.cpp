#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/network/analysis/topology_counts.h"
#include "tests/sim/network/read_text.h"
#include "tests/sim/network/routing/routes.h"

namespace headway {
namespace {

using testing::ElementsAre;

std::vector<int> switches_by_tier(const Topology& topology) {
  std::vector<int> switches;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    if (!topology.is_switch(vertex)) continue;
    const auto tier = static_cast<std::size_t>(topology.tier(vertex));
    if (tier >= switches.size()) switches.resize(tier + 1);
    ++switches[tier];
  }
  return switches;
}

/// The far ends of a vertex's cables.
std::vector<std::string> neighbours(const Topology& topology, const std::string& name) {
  std::vector<std::string> names;
  for (const LinkId link : topology.links_from(topology.find(name))) {
    names.emplace_back(topology.name(topology.link(link).to));
  }
  return names;
}

constexpr char kRailTwoTiers[] = R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4,
    "units": 2, "leaf": {}, "spine": {"switches": 2}})";

TEST(Clos, ARailHasALeafInEachUnit) {
  // 8 nodes of 2 NICs in 2 units of 4 nodes: 2 x 2 leaves of 4 ports down, so 4 up, to 2 spines by
  // 2 cables each. Cables: 16 to endpoints, 4 x 4 to spines.
  const auto cluster = cluster_of(topology_text(8, 2, kRailTwoTiers));
  const Topology& topology = cluster->topology;
  EXPECT_EQ(topology.endpoint_count(), 16);
  EXPECT_THAT(switches_by_tier(topology), ElementsAre(4, 2));
  EXPECT_EQ(topology.cable_count(), 32);
  EXPECT_THAT(neighbours(topology, "leaf/unit1/rail0"),
              ElementsAre("node4/nic0", "node5/nic0", "node6/nic0", "node7/nic0", "spine/0",
                          "spine/0", "spine/1", "spine/1"));
  EXPECT_THAT(neighbours(topology, "node5/nic1"), ElementsAre("leaf/unit1/rail1"));
}

TEST(Clos, ARackHasOneLeafForAllNics) {
  const auto cluster = cluster_of(topology_text(4, 2, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 2, "leaf": {}, "spine": {}})"));
  EXPECT_THAT(switches_by_tier(cluster->topology), ElementsAre(2, 4));
  EXPECT_THAT(neighbours(cluster->topology, "leaf/unit1"),
              ElementsAre("node2/nic0", "node2/nic1", "node3/nic0", "node3/nic1", "spine/0",
                          "spine/1", "spine/2", "spine/3"));
}

TEST(Clos, PortsKeepTheNumbersOfTheFullDesign) {
  // Node 4 alone stands in unit 1: its leaf has ports 1 and 5 to 8 in use, and the spines see the
  // leaves (unit 1, rail 0) and (unit 1, rail 1) on ports 5-6 and 7-8.
  const auto cluster = cluster_of(topology_text(5, 2, kRailTwoTiers));
  const Topology& topology = cluster->topology;
  const auto links = topology.links_from(topology.find("leaf/unit1/rail1"));
  ASSERT_EQ(links.size(), 5U);
  EXPECT_EQ(topology.link(links[0]).from_port, 1);
  EXPECT_EQ(topology.link(links[1]).from_port, 5);
  EXPECT_EQ(topology.link(links[1]).to_port, 7);
  EXPECT_EQ(topology.link(links[4]).from_port, 8);
  EXPECT_EQ(topology.link(links[4]).to_port, 8);
}

TEST(Clos, OnlyTheUnitsInUseAreBuilt) {
  const auto cluster = cluster_of(topology_text(8, 2, kRailTwoTiers), 3);
  EXPECT_EQ(cluster->nodes, 3);
  EXPECT_EQ(cluster->endpoints.size(), 6U);
  EXPECT_THAT(switches_by_tier(cluster->topology), ElementsAre(2, 2));
  EXPECT_EQ(cluster->topology.cable_count(), 6 + 2 * 4);
}

TEST(Clos, BandwidthAndLatencyAreThoseOfTheTier) {
  const auto cluster = cluster_of(topology_text(8, 2, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 4,
      "leaf": {"cable_latency": "1 ns", "switch_latency": "100 ns"},
      "spine": {"bandwidth": "200 Gb/s", "cable_latency": "2 ns", "switch_latency": "300 ns"}})"));
  const Topology& topology = cluster->topology;
  // 4 ports of 100 Gb/s down are 2 uplinks of 200 Gb/s.
  EXPECT_THAT(switches_by_tier(topology), ElementsAre(4, 2));
  const auto route = route_of(*cluster, topology.find("node0/nic0"), topology.find("node4/nic0"));
  ASSERT_EQ(route.size(), 4U);
  EXPECT_EQ(topology.link(route[0].link).capacity, 12.5_GBps);
  EXPECT_EQ(topology.link(route[1].link).capacity, 25_GBps);
  EXPECT_EQ(topology.latency(route[0].link), 1_ns + 100_ns);  // to the leaf
  EXPECT_EQ(topology.latency(route[1].link), 2_ns + 300_ns);  // to the spine
  EXPECT_EQ(topology.latency(route[2].link), 2_ns + 100_ns);  // to the leaf
  EXPECT_EQ(topology.latency(route[3].link), 1_ns);           // to the node
}

TEST(Clos, OversubscriptionSetsTheUplinks) {
  // 8 ports down at 4:1 are 2 uplinks.
  const auto cluster = cluster_of(topology_text(16, 1, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 8, "leaf": {"oversubscription": 4}, "spine": {}})"));
  EXPECT_THAT(switches_by_tier(cluster->topology), ElementsAre(2, 2));
  const auto tiers = topology_counts(*cluster).tiers;
  EXPECT_EQ(tiers[0].oversubscription, 4.0);
  EXPECT_EQ(tiers[1].oversubscription, std::nullopt);
}

constexpr char kThreeTiers[] = R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2,
    "units_per_pod": 2, "pods": 3, "leaf": {}, "spine": {}, "core": {}})";

TEST(Clos, SpinesOfTheSameNumberShareAPlaneOfCores) {
  // 12 nodes of one NIC, 2 a leaf, 2 leaves a pod: 2 spines a pod with 2 ports down and 2 up. Each
  // spine number has a plane of 2 cores: 4 cores. Cables: 12 + 6 x 2 + 6 x 2.
  const auto cluster = cluster_of(topology_text(12, 1, kThreeTiers));
  const Topology& topology = cluster->topology;
  EXPECT_THAT(switches_by_tier(topology), ElementsAre(6, 6, 4));
  EXPECT_EQ(topology.cable_count(), 36);
  EXPECT_THAT(neighbours(topology, "spine/pod2/1"),
              ElementsAre("leaf/unit4", "leaf/unit5", "core/plane1/0", "core/plane1/1"));
  EXPECT_THAT(neighbours(topology, "core/plane1/0"),
              ElementsAre("spine/pod0/1", "spine/pod1/1", "spine/pod2/1"));
}

TEST(Clos, FewerCoresAreSharedByMoreSpines) {
  // 2 cores in all are one plane for both spines of a pod.
  const auto cluster = cluster_of(topology_text(12, 1, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 2, "units_per_pod": 2, "leaf": {}, "spine": {},
      "core": {"switches": 2}})"));
  EXPECT_THAT(neighbours(cluster->topology, "core/plane0/1"),
              ElementsAre("spine/pod0/0", "spine/pod0/1", "spine/pod1/0", "spine/pod1/1",
                          "spine/pod2/0", "spine/pod2/1"));
  const Topology& topology = cluster->topology;
  for (const LinkId link : topology.links_from(topology.find("core/plane0/1"))) {
    EXPECT_EQ(topology.link(link).from_port,
              1 + topology.link(link).to - topology.find("spine/pod0/0"));
  }
}

TEST(Clos, SpinesMayServeOneRailOfAPod) {
  // 4 nodes of 2 NICs, one node a unit, 2 units a pod. Each rail of a pod has 2 leaves of one port
  // and one spine, which leads to 2 cores.
  const auto cluster = cluster_of(topology_text(4, 2, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 1, "units_per_pod": 2, "leaf": {}, "spine": {"group": "rail"},
      "core": {}})"));
  const Topology& topology = cluster->topology;
  EXPECT_THAT(switches_by_tier(topology), ElementsAre(8, 4, 2));
  EXPECT_THAT(
      neighbours(topology, "spine/pod1/rail0/0"),
      ElementsAre("leaf/unit2/rail0", "leaf/unit3/rail0", "core/plane0/0", "core/plane0/1"));
  EXPECT_EQ(way_of(*cluster, topology.find("node0/nic1"), topology.find("node1/nic1")),
            "node0/nic1 > leaf/unit0/rail1 > spine/pod0/rail1/0 > leaf/unit1/rail1 > node1/nic1");
}

TEST(Clos, WithoutANumberOfNodesTheDesignIsFilled) {
  std::string text = topology_text(8, 2, kRailTwoTiers);
  text.erase(text.find("\"nodes\": 8, "), 12);
  EXPECT_EQ(cluster_of(text)->nodes, 8);
}

}  // namespace
}  // namespace headway
