#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "read_text.h"
#include "tests/sim/network/routing/routes.h"

namespace headway {
namespace {

using testing::HasSubstr;

/// Four nodes with two NICs, two units of two; two spines, two cables from a leaf to each.
constexpr const char* kClos = R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 2,
  "leaf": {"uplinks": 4}, "spine": {"cables_per_pair": 2}})";

std::string with_faults(const std::string& faults, const std::string& more = "") {
  return topology_text(4, 2, kClos, R"(, "faults": )" + faults + more);
}

TEST(Faults, ACableThatIsDownIsRoutedAround) {
  const auto whole = cluster_of(topology_text(4, 2, kClos));
  EXPECT_EQ(way_of(*whole, 0, 4),
            "node0/nic0 > leaf/unit0/rail0 > spine/0 > leaf/unit1/rail0 > "
            "node2/nic0");
  const auto hurt = cluster_of(with_faults(R"([{"cable": ["spine/0", "leaf/unit0/rail0"]}])"));
  EXPECT_EQ(way_of(*hurt, 0, 4),
            "node0/nic0 > leaf/unit0/rail0 > spine/1 > leaf/unit1/rail0 > "
            "node2/nic0");
  EXPECT_EQ(hurt->topology.cables_down(), 2);  // both cables of the pair
  EXPECT_EQ(hurt->topology.cable_count(), whole->topology.cable_count());
  // Where nothing is wrong the routes stay.
  EXPECT_EQ(route_of(*hurt, 1, 5), route_of(*whole, 1, 5));
  for (const VertexId a : hurt->endpoints) {
    for (const VertexId b : hurt->endpoints) {
      expect_path(*hurt, a, b);
      for (const LinkShare& hop : route_of(*hurt, a, b)) {
        EXPECT_TRUE(hurt->topology.is_up(hop.link));
      }
    }
  }
}

TEST(Faults, OneOfParallelCablesIsNamedByItsNumber) {
  const auto hurt =
      cluster_of(with_faults(R"([{"cable": ["spine/0", "leaf/unit0/rail0"], "number": 1}])"));
  EXPECT_EQ(hurt->topology.cables_down(), 1);
}

TEST(Faults, ASwitchTakesItsCablesDown) {
  const auto hurt = cluster_of(with_faults(R"([{"switch": "spine/1"}])"));
  EXPECT_EQ(hurt->topology.cables_down(), 8);
  for (const VertexId a : hurt->endpoints) {
    for (const VertexId b : hurt->endpoints) expect_path(*hurt, a, b);
  }
}

TEST(Faults, ACableMayRunSlower) {
  const auto hurt = cluster_of(
      with_faults(R"([{"cable": ["node0/nic0", "leaf/unit0/rail0"], "bandwidth": "25 Gb/s"}])"));
  EXPECT_EQ(hurt->topology.link(0).capacity, 25_Gbps);
  EXPECT_EQ(hurt->topology.link(1).capacity, 25_Gbps);
  EXPECT_EQ(hurt->topology.cables_down(), 0);
}

TEST(Faults, NoCableRunsFasterByAFault) {
  const std::string problems = problem_of(
      with_faults(R"([{"cable": ["spine/0", "leaf/unit0/rail0"], "bandwidth": "4 TB/s"}])"));
  EXPECT_THAT(problems, HasSubstr("a fault makes no cable faster"));
  EXPECT_THAT(problems, HasSubstr("the cable has "));
}

TEST(Faults, AcceleratorsOfALostNicSendByTheNextOneOfTheirNode) {
  const ReadText read = read_topology_text(with_faults(R"([{"nic": "node1/nic0"}])"));
  ASSERT_TRUE(read.topology);
  EXPECT_THAT(read.problems, HasSubstr("warning: \"node1/nic0\" is cut off; its accelerators send "
                                       "by \"node1/nic1\""));
  const Cluster& hurt = *read.topology->cluster;
  EXPECT_EQ(hurt.endpoint_of(2), hurt.endpoint_of(3));
  EXPECT_EQ(hurt.site.host_ports.size(), 7U);
}

TEST(Faults, ALeafThatIsDownCutsItsNicsOff) {
  const ReadText read = read_topology_text(with_faults(R"([{"switch": "leaf/unit0/rail1"}])"));
  ASSERT_TRUE(read.topology) << read.problems;
  EXPECT_THAT(read.problems, HasSubstr("\"node0/nic1\" is cut off"));
  EXPECT_THAT(read.problems, HasSubstr("\"node1/nic1\" is cut off"));
}

TEST(Faults, ANodeWithoutANicIsAnError) {
  EXPECT_THAT(problem_of(with_faults(R"([{"nic": "node1/nic0"}, {"nic": "node1/nic1"}])")),
              HasSubstr("node 1 has no NIC left"));
}

TEST(Faults, ANumberIsNoName) {
  const std::string problems = problem_of(with_faults(R"([{"cable": [1, 2]}])"));
  EXPECT_THAT(problems, HasSubstr("a switch or NIC is named by a text"));
  EXPECT_THAT(problems, testing::Not(HasSubstr("is called \"\"")));
}

TEST(Faults, WhatDoesNotExistIsReportedWithASuggestion) {
  const std::string problems = problem_of(with_faults(
      R"([{"switch": "spine/11"}, {"nic": "node1/nic7"}, {"cable": ["spine/0"]}, {},
          {"cable": ["spine/0", "spine/1"]}, {"switch": "spine/0", "number": 1},
          {"cable": ["spine/0", "leaf/unit0/rail0"], "number": 2}])"));
  EXPECT_THAT(problems, HasSubstr("no switch is called \"spine/11\""));
  EXPECT_THAT(problems, HasSubstr("did you mean \"spine/1\"?"));
  EXPECT_THAT(problems, HasSubstr("no NIC is called \"node1/nic7\""));
  EXPECT_THAT(problems, HasSubstr("a cable has two ends"));
  EXPECT_THAT(problems, HasSubstr("a fault names one cable, switch or NIC"));
  EXPECT_THAT(problems, HasSubstr("no cable joins the two"));
  EXPECT_THAT(problems, HasSubstr("only a cable has this"));
  EXPECT_THAT(problems, HasSubstr("2 join the two, numbered from 0"));
}

TEST(Faults, AFabricInTwoPartsIsAnError) {
  EXPECT_THAT(problem_of(with_faults(R"([{"switch": "spine/0"}, {"switch": "spine/1"}])")),
              HasSubstr("there is no path from"));
}

TEST(Faults, ForwardingTablesAreNotMended) {
  std::string text = R"({"schema": "headway/topology/1", "name": "t",
    "node": {"accelerator": "any", "nics": {"bandwidth": "100 Gb/s"}},
    "fabric": {"kind": "graph", "endpoints": [{"name": "a", "node": "a"}, {"name": "b", "node": "b"}],
      "switches": [{"name": "s"}, {"name": "t"}],
      "cables": [{"from": "a", "to": "s"}, {"from": "b", "to": "t"}, {"from": "s", "to": "t"},
                 {"from": "s", "to": "t"}]},
    "faults": [{"cable": ["s", "t"], "number": 0}],
    "routing": {"kind": "table", "rows": ["0102", "0201"]}})";
  ReadText read = read_topology_text(text);
  ASSERT_TRUE(read.topology) << read.problems;
  EXPECT_THAT(read.problems, HasSubstr("routes over what is down are lost"));
  EXPECT_THROW(route_of(*read.topology->cluster, 0, 1), UnreachableError);
  // Shortest paths take the other cable.
  text.replace(text.find(R"({"kind": "table", "rows": ["0102", "0201"]})"), 43,
               R"({"kind": "shortest"})");
  read = read_topology_text(text);
  ASSERT_TRUE(read.topology) << read.problems;
  expect_path(*read.topology->cluster, 0, 1);
}

TEST(Faults, TheResolvedFormReadsTheSame) {
  const auto read = read_topology_text(
      with_faults(R"([{"cable": ["spine/0", "leaf/unit0/rail0"]}, {"switch": "spine/1"}])"));
  // Both: rail 0 of unit 0 then has no way up.
  EXPECT_THAT(read.problems, HasSubstr("there is no path from"));
  const auto sound =
      read_topology_text(with_faults(R"([{"cable": ["spine/0", "leaf/unit0/rail0"]}])"));
  ASSERT_TRUE(sound.topology);
  const auto again = read_topology_text(sound.topology->resolved->dump());
  ASSERT_TRUE(again.topology) << again.problems;
  EXPECT_EQ(again.topology->cluster->topology.cables_down(), 2);
  EXPECT_EQ(again.topology->resolved, sound.topology->resolved);
}

}  // namespace
}  // namespace headway
