#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read_text.h"
#include "tests/sim/network/routing/routes.h"

namespace headway {
namespace {

std::string graph_text(const std::string& graph, const std::string& nics = "1") {
  return R"({"schema": "headway/topology/1", "name": "t", "node": {"accelerator": "any",
      "nics": {"count": )" +
         nics + R"(, "bandwidth": "100 Gb/s"}},
      "fabric": {"kind": "graph", )" +
         graph + "}}";
}

/// Two leaves under one spine, two cables from "left" to "top".
constexpr char kTree[] = R"(
    "endpoints": [{"name": "a/hca", "node": "a"}, {"name": "b/hca", "node": "b"},
                  {"name": "c/hca", "node": "c"}],
    "switches": [{"name": "left"}, {"name": "right", "switch_latency": "1 us"}, {"name": "top"}],
    "cables": [{"from": "a/hca", "to": "left"}, {"from": "b/hca", "to": "left", "to_port": 1},
               {"from": "c/hca", "to": "right", "bandwidth": "40 Gb/s", "latency": "7 ns"},
               {"from": "left", "to": "top"}, {"from": "left", "to": "top"},
               {"from": "top", "to": "right"}])";

TEST(Graph, IsWhatTheFileLists) {
  const auto cluster = cluster_of(graph_text(kTree));
  const Topology& topology = cluster->topology;
  EXPECT_EQ(cluster->nodes, 3);
  EXPECT_EQ(topology.endpoint_count(), 3);
  EXPECT_EQ(topology.switch_count(), 3);
  EXPECT_EQ(topology.cable_count(), 6);
  EXPECT_EQ(cluster->endpoints[2], topology.find("c/hca"));
  const LinkId last = topology.links_from(topology.find("c/hca"))[0];
  EXPECT_EQ(topology.link(last).capacity, 5_GBps);
  EXPECT_EQ(topology.latency(last), 7_ns + 1_us);
  EXPECT_EQ(topology.link(0).capacity, 12.5_GBps);  // the NIC's
}

TEST(Graph, ATierIsTheDistanceFromTheEndpoints) {
  const auto cluster = cluster_of(graph_text(kTree));
  const Topology& topology = cluster->topology;
  EXPECT_EQ(topology.tier(topology.find("left")), 0);
  EXPECT_EQ(topology.tier(topology.find("right")), 0);
  EXPECT_EQ(topology.tier(topology.find("top")), 1);
  for (const VertexId a : cluster->endpoints) {
    for (const VertexId b : cluster->endpoints) {
      expect_path(*cluster, a, b);
      expect_valley_free(*cluster, a, b);
    }
  }
}

TEST(Graph, OpenPortsAreTheLowestFreeOnes) {
  // Port 1 of "left" is taken by name, so a/hca is on 2, and the trunk on 3 and 4.
  const auto cluster = cluster_of(graph_text(kTree));
  const Topology& topology = cluster->topology;
  EXPECT_EQ(topology.link(0).to_port, 2);
  EXPECT_EQ(topology.link(2).to_port, 1);
  EXPECT_EQ(topology.link(6).from_port, 3);
  EXPECT_EQ(topology.link(8).from_port, 4);
}

TEST(Graph, ParallelCablesAreUsedInTurn) {
  // a/hca and b/hca are neighbours on "left": what comes to them from c/hca takes both cables.
  const auto cluster = cluster_of(graph_text(kTree));
  LinkLoads loads;
  const VertexId c = cluster->topology.find("c/hca");
  add_flow(*cluster, c, cluster->topology.find("a/hca"), loads);
  add_flow(*cluster, c, cluster->topology.find("b/hca"), loads);
  EXPECT_EQ(loads[Topology::reverse(6)], 1);
  EXPECT_EQ(loads[Topology::reverse(8)], 1);
}

TEST(Graph, EndpointsOfANodeAreItsNicsInOrder) {
  const auto cluster = cluster_of(graph_text(R"(
      "endpoints": [{"name": "b1", "node": "b"}, {"name": "a1", "node": "a"},
                    {"name": "b0", "node": "b"}, {"name": "a0", "node": "a"}],
      "switches": [{"name": "s"}],
      "cables": [{"from": "a0", "to": "s"}, {"from": "a1", "to": "s"}, {"from": "b0", "to": "s"},
                 {"from": "b1", "to": "s"}])",
                                             "2"));
  std::vector<std::string> names;
  for (const VertexId endpoint : cluster->endpoints) {
    names.emplace_back(cluster->topology.name(endpoint));
  }
  EXPECT_THAT(names, testing::ElementsAre("b1", "b0", "a1", "a0"));
}

TEST(Graph, FewerNodesAreItsFirstOnes) {
  const ReadText read = read_topology_text(graph_text(kTree), 2);
  ASSERT_EQ(read.problems, "");
  EXPECT_EQ(read.topology->cluster->nodes, 2);
  EXPECT_EQ(read.topology->cluster->endpoints.size(), 2U);
  EXPECT_EQ(read.topology->cluster->topology.endpoint_count(), 3);
}

TEST(Graph, NodesMayBeCabledWithoutASwitch) {
  const auto cluster = cluster_of(graph_text(R"(
      "endpoints": [{"name": "a", "node": "a"}, {"name": "b", "node": "b"},
                    {"name": "c", "node": "c"}],
      "cables": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}])"));
  EXPECT_EQ(way_of(*cluster, 0, 2), "a > b > c");
}

/// Five nodes of two accelerators on one switch; `domains` are told of nodes 0, 1, ...
std::string racks_text(const std::vector<std::string>& domains, const std::string& room) {
  std::string endpoints;
  std::string cables;
  for (int node = 0; node < 5; ++node) {
    const std::string name = "n" + std::to_string(node);
    endpoints += (node == 0 ? "" : ", ") + std::string(R"({"name": ")") + name + R"(", "node": ")" +
                 name + "\"";
    if (static_cast<std::size_t>(node) < domains.size()) {
      endpoints += R"(, "scale_up_domain": ")" + domains[static_cast<std::size_t>(node)] + "\"";
    }
    endpoints += "}";
    cables += (node == 0 ? "" : ", ") + std::string(R"({"from": ")") + name + R"(", "to": "s"})";
  }
  return R"({"schema": "headway/topology/1", "name": "t",
      "node": {"accelerator": "any", "accelerators": 2, "nics": {"bandwidth": "100 Gb/s"},
               "scale_up": {"bandwidth": "100 GB/s", "domain": )" +
         room + R"(}},
      "fabric": {"kind": "graph", "endpoints": [)" +
         endpoints + R"(], "switches": [{"name": "s"}], "cables": [)" + cables + "]}}";
}

TEST(Graph, NodesOfOneDomainNeedNotFollowEachOther) {
  // Racks of two and three nodes, mixed: 4 and 6 accelerators.
  const auto cluster = cluster_of(racks_text({"r1", "r2", "r1", "r2", "r2"}, "6"));
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->scale_up_domain, 6);
  EXPECT_EQ(cluster->domain_of(0), cluster->domain_of(5));  // n0 and n2
  EXPECT_EQ(cluster->domain_of(2), cluster->domain_of(9));  // n1 and n4
  EXPECT_NE(cluster->domain_of(0), cluster->domain_of(2));
}

TEST(Graph, ANodeOfWhichNoDomainIsToldIsOne) {
  const auto cluster = cluster_of(racks_text({"r1", "r1", "r1"}, "6"));
  EXPECT_EQ(cluster->domain_of(0), cluster->domain_of(5));
  EXPECT_NE(cluster->domain_of(6), cluster->domain_of(8));
}

TEST(Graph, DomainsByTheOrderOfAFileAreAWarning) {
  const ReadText read = read_topology_text(racks_text({}, "4"));
  ASSERT_TRUE(read.topology);
  EXPECT_THAT(read.problems, testing::HasSubstr("which nodes share a scale-up domain is not said"));
  EXPECT_THAT(read.problems, testing::HasSubstr("2 nodes in a row"));
}

TEST(Graph, MoreNodesThanADomainHasRoomForAreRefused) {
  EXPECT_THAT(problem_of(racks_text({"r1", "r1", "r1"}, "4")),
              testing::HasSubstr("3 nodes of 2 accelerators in one, of 4"));
}

}  // namespace
}  // namespace headway
