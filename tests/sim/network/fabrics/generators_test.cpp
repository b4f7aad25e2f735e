#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "tests/sim/network/read_text.h"
#include "tests/sim/network/routing/routes.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/analysis/topology_counts.h"

namespace headway {
namespace {

using testing::HasSubstr;

constexpr const char* kDragonfly = R"({"kind": "dragonfly", "switches_per_group": 4,
  "endpoints_per_switch": 2, "global_cables_per_switch": 2, "groups": 9,
  "local": {"bandwidth": "100 Gb/s"}})";

TEST(Dragonfly, TheCanonicalOneHasItsCablesAndDiameter) {
  // p = 2, a = 4, h = 2: g = a h + 1 = 9 groups, 36 switches, 72 endpoints; 6 cables in each group
  // and one between every two groups: 54 + 36. A route is at most local, global, local.
  const auto cluster = cluster_of(topology_text(72, 1, kDragonfly));
  EXPECT_EQ(cluster->topology.switch_count(), 36);
  EXPECT_EQ(cluster->topology.cable_count(), 72 + 54 + 36);
  const FabricAnalysis analysis = analysed(*cluster);
  EXPECT_EQ(analysis.diameter_links, 5);
  EXPECT_EQ(analysis.all_pairs->links_histogram.at(2), 72);
  // Every switch has 3 local ports, 2 global ones and 2 endpoints.
  for (VertexId vertex = 72; vertex < 108; ++vertex) {
    EXPECT_EQ(cluster->topology.links_from(vertex).size(), 7U);
  }
}

TEST(Dragonfly, FewerGroupsGetMoreCablesEach) {
  // 8 global cables of a group over 2 others: 4 to each, 12 in all.
  const auto cluster = cluster_of(topology_text(
      12, 2, R"({"kind": "dragonfly", "switches_per_group": 4, "endpoints_per_switch": 2,
                 "global_cables_per_switch": 2})"));
  EXPECT_EQ(cluster->topology.switch_count(), 12);
  EXPECT_EQ(cluster->topology.cable_count(), 24 + 18 + 12);
}

TEST(Dragonfly, ValiantSplitsOverTheOtherGroups) {
  const auto cluster = cluster_of(
      topology_text(72, 1, kDragonfly, R"(, "routing": {"kind": "valiant", "share": 0.5})"));
  // Endpoint 0 is in group 0, endpoint 71 in group 8. Half the flow leaves by the one cable to
  // group 8, the other half by the seven cables to the other groups.
  std::map<std::pair<int, int>, double> between;
  const auto group = [](VertexId vertex) { return vertex < 72 ? vertex / 8 : (vertex - 72) / 4; };
  double received = 0.0;
  for (const LinkShare& hop : route_of(*cluster, 0, 71)) {
    const Link& link = cluster->topology.link(hop.link);
    if (link.to == 71) received += hop.share;
    if (group(link.from) != group(link.to))
      between[{group(link.from), group(link.to)}] += hop.share;
  }
  EXPECT_NEAR(received, 1.0, 1e-12);
  ASSERT_EQ(between.size(), 1U + 7U + 7U);
  for (const auto& [groups, share] : between) {
    EXPECT_NEAR(share, groups == std::pair(0, 8) ? 0.5 : 0.5 / 7.0, 1e-12);
  }
  // Within a group there is no detour.
  EXPECT_EQ(route_of(*cluster, 0, 1).size(), 2U);
}

TEST(Dragonfly, AllTrafficOfAGroupToTheNextIsWhatValiantIsFor) {
  // Every group sends its 8 flows to the next one, minimally over one cable. By way of the 7 other
  // groups there are 8/7 flows on each of the cables to them, and 8/7 on each of those from them.
  // A cable from group a to b carries the first part of flows from a and the second part of flows
  // to b, unless b is next to a: 16/7 at most.
  const auto fullest = [](double share) {
    const auto cluster = cluster_of(
        topology_text(72, 1, kDragonfly,
                      fmt::format(R"(, "routing": {{"kind": "valiant", "share": {}}})", share)));
    std::map<LinkId, double> loads;
    for (VertexId from = 0; from < 72; ++from) {
      for (const LinkShare& hop : route_of(*cluster, from, (from + 8) % 72)) {
        const Link& link = cluster->topology.link(hop.link);
        const auto group = [](VertexId vertex) { return (vertex - 72) / 4; };
        if (cluster->topology.is_switch(link.from) && cluster->topology.is_switch(link.to) &&
            group(link.from) != group(link.to)) {
          loads[hop.link] += hop.share;
        }
      }
    }
    double most = 0.0;
    for (const auto& [link, load] : loads) most = std::max(most, load);
    return most;
  };
  EXPECT_NEAR(fullest(0.0), 8.0, 1e-9);
  EXPECT_NEAR(fullest(1.0), 16.0 / 7.0, 1e-9);
}

TEST(Dragonfly, WhatDoesNotFitIsReported) {
  EXPECT_THAT(problem_of(topology_text(80, 1, kDragonfly)),
              HasSubstr("9 groups with 8 places for 80 NICs"));
  EXPECT_THAT(problem_of(topology_text(40, 1, R"({"kind": "dragonfly", "switches_per_group": 2,
                             "endpoints_per_switch": 2, "global_cables_per_switch": 1})")),
              HasSubstr("2 cables for 9 other groups"));
}

TEST(DragonflyPlus, GroupsAreTreesJoinedByTheirSpines) {
  // 3 groups of 2 leaves and 2 spines: 4 cables a group, 4 global ones a group = 2 to each other.
  const auto cluster = cluster_of(
      topology_text(24, 1, R"({"kind": "dragonfly_plus", "groups": 3, "leaves_per_group": 2,
                 "spines_per_group": 2, "endpoints_per_leaf": 4, "global_cables_per_spine": 2,
                 "global": {"bandwidth": "200 Gb/s"}})"));
  EXPECT_EQ(cluster->topology.switch_count(), 12);
  EXPECT_EQ(cluster->topology.cable_count(), 24 + 12 + 6);
  EXPECT_EQ(cluster->topology.tier(cluster->topology.find("group1/spine0")), 1);
  // Endpoint, leaf, spine, spine, leaf, endpoint.
  EXPECT_EQ(analysed(*cluster).diameter_links, 5);
}

TEST(HyperX, EveryTwoSwitchesOfALineAreCabled) {
  // 3 x 4 switches: 4 lines of 3 (3 pairs) and 3 lines of 4 (6 pairs), two cables each.
  const auto cluster = cluster_of(topology_text(
      24, 1,
      R"({"kind": "hyperx", "dims": [3, 4], "endpoints_per_switch": 2, "cables_per_pair": 2})"));
  EXPECT_EQ(cluster->topology.switch_count(), 12);
  EXPECT_EQ(cluster->topology.cable_count(), 24 + 2 * (4 * 3 + 3 * 6));
  // The first dimension first: from switch (0,0) to (2,3).
  EXPECT_EQ(way_of(*cluster, 0, 23),
            "node0/nic0 > switch/0/0 > switch/2/0 > switch/2/3 > node23/nic0");
  for (const VertexId a : cluster->endpoints) {
    for (const VertexId b : cluster->endpoints) {
      expect_path(*cluster, a, b);
      const int hops = (a / 8 != b / 8 ? 1 : 0) + (a / 2 % 4 != b / 2 % 4 ? 1 : 0);
      EXPECT_EQ(route_of(*cluster, a, b).size(), static_cast<std::size_t>(a == b ? 0 : 2 + hops));
    }
  }
}

TEST(HyperX, ThreeDimensionsToo) {
  const auto cluster = cluster_of(
      topology_text(60, 1, R"({"kind": "hyperx", "dims": [3, 4, 5], "endpoints_per_switch": 1})"));
  EXPECT_EQ(analysed(*cluster).diameter_links, 5);
  for (const VertexId a : cluster->endpoints) expect_path(*cluster, 0, a);
}

TEST(RailOnly, RailsAreApartAndNodesHandOn) {
  const auto cluster = cluster_of(topology_text(4, 2, R"({"kind": "rail_only"})"));
  EXPECT_EQ(cluster->topology.switch_count(), 2);
  EXPECT_TRUE(cluster->rails_only);
  // Accelerator 0 is on rail 0 of node 0, accelerator 3 on rail 1 of node 1.
  EXPECT_EQ(cluster->endpoint_towards(0, 3), cluster->endpoints[1]);
  EXPECT_EQ(cluster->endpoint_towards(0, 2), cluster->endpoints[0]);
  EXPECT_THROW(route_of(*cluster, cluster->endpoints[0], cluster->endpoints[3]), UnreachableError);
}

TEST(RailOnly, LargerOnesAreClosFabricsWithoutACore) {
  const auto cluster = cluster_of(
      topology_text(8, 2, R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 2, "leaf": {},
                "spine": {"group": "rail"}})"));
  ASSERT_NE(cluster, nullptr);
  EXPECT_TRUE(cluster->rails_only);
  EXPECT_EQ(cluster->topology.switch_count(), 8 + 2 * 2);
  EXPECT_EQ(way_of(*cluster, 0, 14),
            "node0/nic0 > leaf/unit0/rail0 > spine/rail0/1 > leaf/unit3/rail0 > node7/nic0");
  EXPECT_THROW(route_of(*cluster, 0, 15), UnreachableError);
}

TEST(Planes, FlowsAreSpreadOverCopiesOfTheSwitches) {
  const auto cluster = cluster_of(topology_text(
      4, 2, R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 2, "planes": 2, "leaf": {},
                "spine": {}})"));
  ASSERT_NE(cluster, nullptr);
  // One plane: 4 leaves of 2 nodes, 2 spines, 8 + 8 cables of 50 Gb/s.
  EXPECT_EQ(cluster->topology.switch_count(), 12);
  EXPECT_EQ(cluster->topology.cable_count(), 32);
  EXPECT_EQ(cluster->topology.link(0).capacity, 50_Gbps);
  std::set<int> ports;
  for (const LinkId link : cluster->topology.links_from(0)) {
    ports.insert(cluster->topology.link(link).from_port);
  }
  EXPECT_EQ(ports, (std::set<int>{1, 2}));
  const std::vector<LinkShare> route = route_of(*cluster, 0, 6);
  ASSERT_EQ(route.size(), 8U);
  for (const LinkShare& hop : route) EXPECT_EQ(hop.share, 0.5);
  EXPECT_EQ(cluster->topology.name(cluster->topology.link(route[0].link).to),
            "plane0/leaf/unit0/rail0");
  EXPECT_EQ(cluster->topology.name(cluster->topology.link(route[4].link).to),
            "plane1/leaf/unit0/rail0");
}

TEST(Planes, APlaneThatIsHurtLeavesItToTheOthers) {
  const auto cluster = cluster_of(topology_text(
      4, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "planes": 2, "leaf": {},
                "spine": {"cables_per_pair": 2}})",
      R"(, "faults": [{"switch": "plane1/spine/0"}])"));
  ASSERT_NE(cluster, nullptr);
  for (const LinkShare& hop : route_of(*cluster, 0, 3)) EXPECT_EQ(hop.share, 1.0);
  EXPECT_EQ(route_of(*cluster, 0, 1).size(), 4U);  // on the leaf both planes are whole
}

TEST(Sites, AreJoinedByFibre) {
  const auto cluster = cluster_of(topology_text(
      8, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "leaf": {}, "spine": {},
                "sites": {"count": 2, "bandwidth": "400 Gb/s", "kilometres": 1000}})"));
  ASSERT_NE(cluster, nullptr);
  // A site: 4 nodes, 2 leaves, 2 spines, 8 cables; 2 more to the router.
  EXPECT_EQ(cluster->topology.switch_count(), 2 * 5);
  EXPECT_EQ(cluster->topology.cable_count(), 2 * (8 + 2) + 1);
  EXPECT_EQ(way_of(*cluster, 0, 4),
            "node0/nic0 > site0/leaf/unit0 > site0/spine/0 > site0/router > site1/router > "
            "site1/spine/0 > site1/leaf/unit0 > node4/nic0");
  const LinkId fibre = route_of(*cluster, 0, 4)[3].link;
  EXPECT_EQ(cluster->topology.link(fibre).capacity, 400_Gbps);
  EXPECT_EQ(cluster->topology.latency(fibre), 5_ms);
  // The router is never the narrowest.
  EXPECT_EQ(cluster->topology.link(route_of(*cluster, 0, 4)[2].link).capacity, 400_Gbps);
}

TEST(Sites, ARingCablesNeighboursOnly) {
  const auto text = [](const char* shape) {
    return topology_text(8, 1,
                         fmt::format(R"({{"kind": "single_switch", "sites": {{"count": 4,
        "bandwidth": "10 Gb/s", "kilometres": 80, "cables_per_pair": 3, "shape": "{}"}}}})",
                                     shape));
  };
  // 8 NICs, 4 routers' own cables, and 3 for each of 4 or 6 pairs.
  EXPECT_EQ(cluster_of(text("ring"))->topology.cable_count(), 8 + 4 + 12);
  EXPECT_EQ(cluster_of(text("mesh"))->topology.cable_count(), 8 + 4 + 18);
}

// A ring over two sites crosses them on each of its eight rails from the last node of one site to
// the first of the other.
TEST(Sites, ACollectiveUsesAllCablesBetweenThem) {
  for (const int cables : {1, 2, 4, 8}) {
    const auto cluster = cluster_of(topology_text(
        8, 8,
        fmt::format(R"({{"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units": 2,
                "leaf": {{"uplinks": 8}}, "spine": {{"switches": 2}}, "sites": {{"count": 2,
                "bandwidth": "10 Gb/s", "kilometres": 1000, "cables_per_pair": {}}}}})",
                    cables)));
    ASSERT_NE(cluster, nullptr);
    for (const std::size_t from : {3, 7}) {
      LinkLoads loads;
      for (std::size_t rail = 0; rail < 8; ++rail) {
        add_flow(*cluster, cluster->endpoints[from * 8 + rail],
                 cluster->endpoints[(from + 1) % 8 * 8 + rail], loads);
      }
      std::erase_if(
          loads, [&](const auto& load) { return cluster->topology.latency(load.first) != 5_ms; });
      EXPECT_EQ(std::ssize(loads), cables);
      EXPECT_EQ(most_loaded(loads), 8 / cables);
    }
  }
}

TEST(Sites, RoutingsThatKnowOneSiteSaySo) {
  EXPECT_THAT(problem_of(topology_text(
                  8, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "leaf": {},
                "spine": {}, "sites": {"count": 2, "bandwidth": "10 Gb/s", "kilometres": 1}})",
                  R"(, "routing": {"kind": "d-mod-k"})")),
              HasSubstr("d-mod-k routes fabrics of one site only"));
}

TEST(Copies, WhatCannotBeCopiedIsReported) {
  EXPECT_THAT(problem_of(topology_text(8, 1, R"({"kind": "torus", "dims": [8], "planes": 2})")),
              HasSubstr("a torus has one plane and one site"));
  EXPECT_THAT(problem_of(topology_text(7, 1, R"({"kind": "single_switch", "sites": {"count": 2,
                  "bandwidth": "10 Gb/s", "kilometres": 1}})")),
              HasSubstr("2 sites do not divide 7 nodes"));
  EXPECT_THAT(problem_of(topology_text(8, 1, R"({"kind": "single_switch", "planes": 2,
                  "sites": {"count": 2, "bandwidth": "10 Gb/s", "kilometres": 1}})")),
              HasSubstr("a fabric of several sites has one plane"));
}

}  // namespace
}  // namespace headway
