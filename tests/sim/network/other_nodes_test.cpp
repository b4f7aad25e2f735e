#include "sim/network/other_nodes.h"

#include <gtest/gtest.h>

#include "read_text.h"

namespace headway {
namespace {

/// Four nodes of two accelerators and two NICs of 100 Gb/s; `others` from line 2 on.
std::string with_others(const std::string& others,
                        const std::string& fabric = R"({"kind": "single_switch"})") {
  return topology_text(4, 2, fabric, ", \"other_nodes\":\n" + others);
}

/// A type of node as wide as those.
std::string node_text(const std::string& accelerator, const std::string& nic_bandwidth) {
  return R"({"name": ")" + accelerator + R"( node", "accelerator": ")" + accelerator +
         R"(", "accelerators": 2, "scale_up": {"bandwidth": "16 GB/s"},
            "nics": {"count": 2, "bandwidth": ")" +
         nic_bandwidth + R"("}})";
}

TEST(OtherNodes, AreOfTheirOwnKind) {
  const auto cluster =
      cluster_of(with_others(R"([{"first": 1, "node": )" + node_text("old", "10 Gb/s") + R"(},
          {"first": 3, "count": 1, "node": )" +
                             node_text("old", "10 Gb/s") + "}]"));
  // Accelerators 2 and 3 stand in node 1, 6 and 7 in node 3.
  EXPECT_EQ(cluster->kinds(), 2);
  EXPECT_EQ(cluster->kind_of_node, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(cluster->type_of(1).accelerator, "any");
  EXPECT_EQ(cluster->type_of(2).accelerator, "old");
  EXPECT_EQ(cluster->accelerator_names(), "any and old");
}

TEST(OtherNodes, CablesCarryNoMoreThanTheNicAtTheirEnd) {
  // 100 Gb/s are 12.5 GB/s, 10 Gb/s 1.25 GB/s; both ways of a cable.
  const auto cluster =
      cluster_of(with_others(R"([{"first": 1, "node": )" + node_text("old", "10 Gb/s") + "}]"));
  const auto rate = [&](int accelerator) {
    const LinkId out = cluster->topology.links_from(cluster->endpoint_of(accelerator)).front();
    EXPECT_EQ(cluster->topology.link(out).capacity,
              cluster->topology.link(Topology::reverse(out)).capacity);
    return cluster->topology.link(out).capacity.count();
  };
  EXPECT_DOUBLE_EQ(rate(0), 12.5e9);
  EXPECT_DOUBLE_EQ(rate(2), 1.25e9);
}

TEST(OtherNodes, FasterNicsGetFasterCables) {
  const auto cluster =
      cluster_of(with_others(R"([{"first": 1, "node": )" + node_text("new", "400 Gb/s") + "}]"));
  const auto rate = [&](int accelerator) {
    const LinkId out = cluster->topology.links_from(cluster->endpoint_of(accelerator)).front();
    return cluster->topology.link(out).capacity.count();
  };
  EXPECT_DOUBLE_EQ(rate(0), 12.5e9);
  EXPECT_DOUBLE_EQ(rate(2), 50e9);
}

TEST(OtherNodes, PortsOnPlanesShareTheRateOfTheirNic) {
  // Two planes: each port has half of 10 Gb/s.
  const auto cluster =
      cluster_of(with_others(R"([{"first": 1, "node": )" + node_text("old", "10 Gb/s") + "}]",
                             R"({"kind": "single_switch", "planes": 2})"));
  const LinkId out = cluster->topology.links_from(cluster->endpoint_of(2)).front();
  EXPECT_DOUBLE_EQ(cluster->topology.link(out).capacity.count(), 0.625e9);
}

TEST(OtherNodes, OfTheClustersOwnTypeAreNoKind) {
  const auto cluster =
      cluster_of(with_others(R"([{"first": 1, "node": {"accelerator": "any", "accelerators": 2,
                       "scale_up": {"bandwidth": "100 GB/s"},
                       "nics": {"count": 2, "bandwidth": "100 Gb/s"}}}])"));
  EXPECT_EQ(cluster->kinds(), 1);
}

TEST(OtherNodes, ThatTheClusterHasNotAreRefused) {
  EXPECT_EQ(problem_of(with_others(R"([{"first": 3, "count": 2,
"node": )" + node_text("old", "10 Gb/s") +
                                   "}]")),
            "error: \"other_nodes\" names nodes that the cluster has not\n"
            "  --> t.json:2:2   /other_nodes/0\n"
            "   |\n"
            " 2 | [{\"first\": 3, \"count\": 2,\n"
            "   |  ^ nodes 3 to 4 of 4, counted from 0\n");
}

TEST(OtherNodes, ThatAreNamedTwiceAreRefused) {
  EXPECT_EQ(problem_of(with_others(R"([{"first": 1, "count": 2,
"node": )" + node_text("old", "10 Gb/s") +
                                   R"(},
{"first": 2,
"node": )" + node_text("older", "10 Gb/s") +
                                   "}]")),
            "error: \"other_nodes\" names a node twice\n"
            "  --> t.json:5:1   /other_nodes/1\n"
            "   |\n"
            " 5 | {\"first\": 2,\n"
            "   | ^ node 2\n");
}

TEST(OtherNodes, OfAnotherWidthAreRefused) {
  EXPECT_EQ(problem_of(with_others(R"([{"first": 1, "node":
{"accelerator": "old", "accelerators": 4, "scale_up": {"bandwidth": "16 GB/s"},
 "nics": {"bandwidth": "10 Gb/s"}}}])")),
            "error: all nodes of a cluster are equally wide\n"
            "  --> t.json:3:1   /other_nodes/0/node\n"
            "   |\n"
            " 3 | {\"accelerator\": \"old\", \"accelerators\": 4, \"scale_up\": {\"bandwidth\": "
            "\"16 GB/s\"},\n"
            "   | ^ 4 accelerators, not 2\n"
            "  help: describe a wider machine as several nodes\n");
}

TEST(OtherNodes, AreAList) {
  EXPECT_EQ(problem_of(with_others("4")),
            "error: \"other_nodes\" is a list\n"
            "  --> t.json:2:1   /other_nodes\n"
            "   |\n"
            " 2 | 4}\n"
            "   | ^\n"
            "  help: write [{\"first\": 4, \"count\": 2, \"node\": \"dgx_a100\"}]\n");
}

}  // namespace
}  // namespace headway
