#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"
#include "routes.h"
#include "sim/network/routing/shortest_paths.h"

namespace headway {
namespace {

constexpr char kShortest[] = R"(, "routing": {"kind": "shortest"})";

TEST(ShortestRouting, SpreadsOverARegularTreeAsDModKDoes) {
  // Full fabrics without oversubscription, parallel cables on every level: no shift of all
  // endpoints of a rail loads a link twice.
  struct Tree {
    int nodes;
    int nics;
    const char* fabric;
  };
  const Tree trees[] = {
      {16, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {},
                  "spine": {"cables_per_pair": 2}})"},
      {48, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "units_per_pod": 3,
                  "leaf": {}, "spine": {"cables_per_pair": 2}, "core": {"cables_per_pair": 3}})"},
      {32, 4, R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units_per_pod": 2,
                  "leaf": {}, "spine": {"cables_per_pair": 2}, "core": {"cables_per_pair": 4}})"}};
  for (const Tree& tree : trees) {
    SCOPED_TRACE(tree.fabric);
    const auto cluster = cluster_of(topology_text(tree.nodes, tree.nics, tree.fabric, kShortest));
    for (int shift = 1; shift < tree.nodes; ++shift) {
      LinkLoads loads;
      for (int node = 0; node < tree.nodes; ++node) {
        for (int nic = 0; nic < tree.nics; ++nic) {
          add_flow(*cluster, node * tree.nics + nic, (node + shift) % tree.nodes * tree.nics + nic,
                   loads);
        }
      }
      ASSERT_EQ(most_loaded(loads), 1) << "shift by " << shift;
    }
  }
}

TEST(ShortestRouting, IsAsShortAsDimensionOrderOnATorus) {
  constexpr char kTorus[] = R"({"kind": "torus", "dims": [4, 5]})";
  const auto searched = cluster_of(topology_text(20, 1, kTorus, kShortest));
  const auto computed = cluster_of(topology_text(20, 1, kTorus));
  for (int a = 0; a < 20; ++a) {
    for (int b = 0; b < 20; ++b) {
      expect_path(*searched, a, b);
      ASSERT_EQ(route_of(*searched, a, b).size(), route_of(*computed, a, b).size());
    }
  }
}

/// Builds a topology by hand and routes on it.
struct Lab {
  Cluster cluster;
  Topology& topology = cluster.topology;
  ShortestPaths paths() { return ShortestPaths(topology); }
};

TEST(ShortestPaths, AnEndpointIsAttachedToItsOnlySwitch) {
  Lab lab;
  const VertexId a = lab.topology.add_endpoint("a");
  const VertexId b = lab.topology.add_endpoint("b");
  const VertexId left = lab.topology.add_switch("left", 0);
  const VertexId right = lab.topology.add_switch("right", 0);
  lab.topology.add_cable(a, left, 1_GBps, 0_s);
  lab.topology.add_cable(a, left, 1_GBps, 0_s);
  lab.topology.add_cable(b, left, 1_GBps, 0_s);
  lab.topology.add_cable(b, right, 1_GBps, 0_s);
  EXPECT_EQ(lab.paths().attachment(a), left);
  EXPECT_EQ(lab.paths().attachment(b), b);
  EXPECT_EQ(lab.paths().attachment(right), right);
}

TEST(ShortestPaths, EndpointsAreNoWayThroughWhereThereAreSwitches) {
  // a - left - bridge - right - b: the bridge is an endpoint with a cable to both switches.
  Lab lab;
  const VertexId a = lab.topology.add_endpoint("a");
  const VertexId b = lab.topology.add_endpoint("b");
  const VertexId bridge = lab.topology.add_endpoint("bridge");
  const VertexId left = lab.topology.add_switch("left", 0);
  const VertexId right = lab.topology.add_switch("right", 0);
  lab.topology.add_cable(a, left, 1_GBps, 0_s);
  lab.topology.add_cable(b, right, 1_GBps, 0_s);
  lab.topology.add_cable(bridge, left, 1_GBps, 0_s);
  lab.topology.add_cable(bridge, right, 1_GBps, 0_s);

  const ShortestPaths paths = lab.paths();
  std::vector<LinkId> links;
  paths.first_links(a, b, links);
  EXPECT_TRUE(links.empty());
  paths.first_links(left, bridge, links);
  EXPECT_EQ(links.size(), 1U);
}

TEST(Unreachable, TheErrorNamesBothEnds) {
  Lab lab;
  const VertexId a = lab.topology.add_endpoint("a");
  const VertexId b = lab.topology.add_endpoint("b");
  const UnreachableError error(lab.topology, a, b);
  EXPECT_STREQ(error.what(), "no path from a to b");
  EXPECT_EQ(error.source(), a);
  EXPECT_EQ(error.destination(), b);
}

}  // namespace
}  // namespace headway
