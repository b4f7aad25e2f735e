#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"
#include "tests/sim/network/routing/routes.h"
#include "tests/support/random_numbers.h"

namespace headway {
namespace {

std::string way(const Cluster& cluster, int from, int to) {
  std::string text = std::to_string(from);
  for (const LinkShare& hop : route_of(cluster, from, to)) {
    text += fmt::format(" {}", cluster.topology.link(hop.link).to);
  }
  return text;
}

TEST(Torus, ARingHasACableForEachEndpoint) {
  const auto ring = cluster_of(topology_text(
      8, 1, R"({"kind": "torus", "dims": [8], "bandwidth": "50 GB/s", "hop_latency": "3 ns"})"));
  EXPECT_EQ(ring->topology.endpoint_count(), 8);
  EXPECT_EQ(ring->topology.switch_count(), 0);
  EXPECT_EQ(ring->topology.cable_count(), 8);
  for (LinkId link = 0; link < 16; ++link) {
    EXPECT_EQ(ring->topology.link(link).capacity, 50_GBps);
    EXPECT_EQ(ring->topology.latency(link), 3_ns);
  }
}

TEST(Torus, RoutesGoTheShortWayRound) {
  const auto ring = cluster_of(topology_text(7, 1, R"({"kind": "torus", "dims": [7]})"));
  EXPECT_EQ(way(*ring, 0, 3), "0 1 2 3");
  EXPECT_EQ(way(*ring, 0, 4), "0 6 5 4");
  EXPECT_EQ(way(*ring, 5, 1), "5 6 0 1");
  EXPECT_EQ(way(*ring, 1, 5), "1 0 6 5");
  EXPECT_EQ(way(*ring, 2, 2), "2");
}

TEST(Torus, HalfwayRoundBothDirectionsCarryTheSame) {
  const auto ring = cluster_of(topology_text(6, 1, R"({"kind": "torus", "dims": [6]})"));
  EXPECT_EQ(way(*ring, 0, 3), "0 1 2 3");
  EXPECT_EQ(way(*ring, 1, 4), "1 0 5 4");
  // Six flows of three hops over twelve links: by symmetry one or two each, on average 1.5.
  LinkLoads loads;
  for (int i = 0; i < 6; ++i) add_flow(*ring, i, (i + 3) % 6, loads);
  EXPECT_EQ(loads.size(), 12U);
  EXPECT_EQ(most_loaded(loads), 2);
}

TEST(Torus, AMeshDoesNotGoRound) {
  const auto mesh =
      cluster_of(topology_text(7, 1, R"({"kind": "torus", "dims": [7], "wrap": false})"));
  EXPECT_EQ(mesh->topology.cable_count(), 6);
  EXPECT_EQ(way(*mesh, 0, 6), "0 1 2 3 4 5 6");
  EXPECT_EQ(way(*mesh, 6, 4), "6 5 4");
}

TEST(Torus, TwoVerticesAreNeighboursOnce) {
  const auto pair = cluster_of(topology_text(2, 1, R"({"kind": "torus", "dims": [2]})"));
  EXPECT_EQ(pair->topology.cable_count(), 1);
  EXPECT_EQ(way(*pair, 0, 1), "0 1");
  EXPECT_EQ(way(*pair, 1, 0), "1 0");
}

TEST(Torus, OneVertexIsATorusToo) {
  const auto lone = cluster_of(topology_text(1, 1, R"({"kind": "torus", "dims": [1, 1]})"));
  EXPECT_EQ(lone->topology.cable_count(), 0);
}

TEST(Torus, CorrectsOneDimensionAfterTheOther) {
  // 3 x 4: vertex = 4 row + column. From (0,0) to (2,3): rows first, 0 -> 2 is one step down round
  // the edge, then columns, 0 -> 3 likewise.
  const auto torus = cluster_of(topology_text(12, 1, R"({"kind": "torus", "dims": [3, 4]})"));
  EXPECT_EQ(torus->topology.cable_count(), 24);
  EXPECT_EQ(way(*torus, 0, 11), "0 8 11");
  EXPECT_EQ(way(*torus, 0, 5), "0 4 5");
  EXPECT_EQ(way(*torus, 6, 0), "6 2 3 0");  // (1,2): row 1 -> 0 down; column 2 -> 0, even: up
}

TEST(Torus, EverybodyToEverybodyIsCountedAsItIsRouted) {
  constexpr std::string_view kTori[] = {R"([8])",
                                        R"([7])",
                                        R"([2])",
                                        R"([4, 6])",
                                        R"([5, 3])",
                                        R"([3, 4, 2])",
                                        R"([2, 3, 1, 5])",
                                        R"([6], "wrap": false)",
                                        R"([4, 5, 3], "wrap": [true, false, true])"};
  RandomNumbers random(7);
  for (const std::string_view torus : kTori) {
    SCOPED_TRACE(torus);
    const std::string fabric = fmt::format(R"({{"kind": "torus", "dims": {}}})", torus);
    int vertices = 1;
    for (const char letter : torus.substr(0, torus.find(']'))) {
      if (letter >= '0' && letter <= '9') vertices *= letter - '0';
    }
    const auto cluster = cluster_of(topology_text(vertices, 1, fabric));
    for (int trial = 0; trial < 4; ++trial) {
      // All of them once; then any, some of them several times.
      std::vector<VertexId> endpoints;
      for (VertexId vertex = 0; vertex < vertices; ++vertex) {
        endpoints.push_back(trial == 0 ? vertex : random.below(vertices));
      }
      if (trial > 1) endpoints.resize(1 + endpoints.size() / 2);
      LinkLoads followed;
      std::size_t longest = 0;
      for (const VertexId from : endpoints) {
        for (const VertexId to : endpoints) {
          add_flow(*cluster, from, to, followed);
          longest = std::max(longest, route_of(*cluster, from, to).size());
        }
      }
      const auto counted = cluster->routing->routes_between_all(endpoints);
      ASSERT_TRUE(counted);
      LinkLoads loads;
      for (const LinkShare& routes : counted->links) {
        EXPECT_TRUE(loads.emplace(routes.link, static_cast<int>(routes.share)).second)
            << "a link is told twice";
      }
      EXPECT_EQ(loads, followed);
      EXPECT_EQ(route_of(*cluster, counted->from, counted->to).size(), longest);
    }
  }
}

TEST(Torus, EachDimensionMayWrapOrNot) {
  // 3 x 4 with closed columns and open rows: 12 cables in dimension 0, 3 x 3 in dimension 1.
  const auto torus = cluster_of(
      topology_text(12, 1, R"({"kind": "torus", "dims": [3, 4], "wrap": [true, false]})"));
  EXPECT_EQ(torus->topology.cable_count(), 21);
  EXPECT_EQ(way(*torus, 0, 11), "0 8 9 10 11");
}

TEST(Torus, NodesWithSeveralNicsTakeConsecutiveVertices) {
  // A TPU v4 cube: 16 hosts of 4 chips are 4 x 4 x 4 chips with 3 x 64 cables.
  const auto cube = cluster_of(topology_text(16, 4, R"({"kind": "torus", "dims": [4, 4, 4]})"));
  EXPECT_EQ(cube->topology.cable_count(), 192);
  EXPECT_EQ(cube->topology.name(7), "node1/nic3");
  EXPECT_EQ(cube->endpoints[7], 7);
}

TEST(Torus, NumberOfHopsIsTheSumOfTheShortWays) {
  const auto torus = cluster_of(
      topology_text(60, 1, R"({"kind": "torus", "dims": [5, 3, 4], "wrap": [true, true, false]})"));
  const auto short_way = [](int a, int b, int size) {
    const int d = std::abs(a - b);
    return std::min(d, size - d);
  };
  for (int a = 0; a < 60; ++a) {
    for (int b = 0; b < 60; ++b) {
      expect_path(*torus, a, b);
      const int hops = short_way(a / 12, b / 12, 5) + short_way(a / 4 % 3, b / 4 % 3, 3) +
                       std::abs(a % 4 - b % 4);
      ASSERT_EQ(route_of(*torus, a, b).size(), static_cast<std::size_t>(hops)) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace headway
