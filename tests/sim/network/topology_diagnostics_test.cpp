#include <gtest/gtest.h>

#include "read_text.h"

namespace headway {
namespace {

std::string with_graph(const std::string& cables) {
  return with_fabric(
      R"("fabric": {"kind": "graph",
"endpoints": [{"name": "a", "node": "a"}, {"name": "b", "node": "b"}],
"switches": [{"name": "sw1", "ports": 4}, {"name": "sw2"}],
"cables": [
)" + cables +
          "]}",
      "");
}

TEST(TopologyDiagnostics, AnUnknownKindOfFabric) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\n\"kind\": \"clos3\"}")),
            "error: kind cannot be \"clos3\"\n"
            "  --> t.json:5:9   /fabric/kind\n"
            "   |\n"
            " 5 | \"kind\": \"clos3\"}}\n"
            "   |         ^^^^^^^\n"
            "  help: did you mean \"clos\"? It is one of \"clos\", \"fat_tree\", \"rail_only\", "
            "\"single_switch\", "
            "\"torus\", \"dragonfly\", \"dragonfly_plus\", \"hyperx\", \"graph\"\n");
}

TEST(TopologyDiagnostics, AnUnknownKindOfRouting) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"single_switch\"}, \"routing\": {\n"
                                   "\"kind\": \"shortes\"}")),
            "error: kind cannot be \"shortes\"\n"
            "  --> t.json:5:9   /routing/kind\n"
            "   |\n"
            " 5 | \"kind\": \"shortes\"}}\n"
            "   |         ^^^^^^^^^\n"
            "  help: did you mean \"shortest\"? It is one of \"d-mod-k\", \"dimension-order\", "
            "\"shortest\", \"ecmp\", \"adaptive\", \"valiant\", \"table\"\n");
}

TEST(TopologyDiagnostics, ARoutingForAnotherFabric) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"single_switch\"}, \"routing\": {\n"
                                   "\"kind\": \"d-mod-k\"}")),
            "error: d-mod-k routes clos fabrics only\n"
            "  --> t.json:5:9   /routing/kind\n"
            "   |\n"
            " 5 | \"kind\": \"d-mod-k\"}}\n"
            "   |         ^^^^^^^^^ the fabric is a single_switch\n"
            "  help: leave \"routing\" out to get what fits the fabric, or use \"shortest\"\n");
}

TEST(TopologyDiagnostics, ABandwidthWithoutAUnit) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"single_switch\",\n"
                                   "\"bandwidth\": 400}")),
            "error: a bandwidth needs a unit\n"
            "  --> t.json:5:14   /fabric/bandwidth\n"
            "   |\n"
            " 5 | \"bandwidth\": 400}}\n"
            "   |              ^^^\n"
            "  help: write \"400 Gb/s\" (bits, as NICs are sold) or \"400 GB/s\" (bytes); they "
            "differ by 8\n");
}

TEST(TopologyDiagnostics, NoNumberOfNodes) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\n\"kind\": \"single_switch\"}", "")),
            "error: the number of nodes is missing\n"
            "  --> t.json:4:11   /fabric\n"
            "   |\n"
            " 4 | \"fabric\": {\n"
            "   |           ^\n"
            "  help: write it beside the fabric: \"nodes\": 128\n");
}

TEST(TopologyDiagnostics, NoNodesAtAll) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"single_switch\"}", "\"nodes\": 0,")),
            "error: nodes must be between 1 and 1048576\n"
            "  --> t.json:2:10   /nodes\n"
            "   |\n"
            " 2 | \"nodes\": 0,\n"
            "   |          ^ 0\n"
            "  help: for example \"nodes\": 1\n");
}

TEST(TopologyDiagnostics, TorusDimensionsThatAreNotTheNodes) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"torus\",\n\"dims\": [3, 4]}")),
            "error: the torus has not one vertex for each NIC\n"
            "  --> t.json:5:9   /fabric/dims\n"
            "   |\n"
            " 5 | \"dims\": [3, 4]}}\n"
            "   |         ^ 3 x 4 = 12 vertices, but 4 nodes have 4 NICs\n"
            "  help: such as \"dims\": [2, 2]\n");
  // One of them changed where that is enough, the last that can be.
  EXPECT_NE(problem_of(with_fabric("\"fabric\": {\"kind\": \"torus\",\n\"dims\": [1, 3]}"))
                .find("help: such as \"dims\": [1, 4]\n"),
            std::string::npos);
}

TEST(TopologyDiagnostics, ATorusDimensionThatIsNoNumber) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"torus\",\n\"dims\": [4, 0]}")),
            "error: dims has whole numbers, 1 to 1048576 each\n"
            "  --> t.json:5:13   /fabric/dims/1\n"
            "   |\n"
            " 5 | \"dims\": [4, 0]}}\n"
            "   |             ^ not one of them\n"
            "  help: for example 1\n");
}

TEST(TopologyDiagnostics, ACableToNoSwitch) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"a\", \"to\": \"sw3\"}")),
            "error: no switch or endpoint is called \"sw3\"\n"
            "  --> t.json:8:21   /fabric/cables/0/to\n"
            "   |\n"
            " 8 | {\"from\": \"a\", \"to\": \"sw3\"}]}}\n"
            "   |                     ^^^^^\n"
            "  help: did you mean \"sw1\"?\n");
}

TEST(TopologyDiagnostics, ANameUsedTwice) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"graph\", \"endpoints\": [\n"
                                   "{\"name\": \"a\", \"node\": \"a\"},\n"
                                   "{\"name\": \"a\", \"node\": \"b\"}], \"cables\": []}")),
            "error: \"a\" is named twice\n"
            "  --> t.json:6:10   /fabric/endpoints/1/name\n"
            "   |\n"
            " 6 | {\"name\": \"a\", \"node\": \"b\"}], \"cables\": []}}\n"
            "   |          ^^^\n"
            "   |\n"
            "  ::: t.json:5:10   /fabric/endpoints/0/name first here\n");
}

TEST(TopologyDiagnostics, APortUsedTwice) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"a\", \"to\": \"sw1\", \"to_port\": 3},\n"
                                  "{\"from\": \"b\", \"to\": \"sw1\", \"to_port\": 3}")),
            "error: port 3 of \"sw1\" is used twice\n"
            "  --> t.json:9:39   /fabric/cables/1/to_port\n"
            "   |\n"
            " 9 | {\"from\": \"b\", \"to\": \"sw1\", \"to_port\": 3}]}}\n"
            "   |                                       ^\n"
            "   |\n"
            "  ::: t.json:8:39   /fabric/cables/0/to_port first here\n");
}

TEST(TopologyDiagnostics, APortThatTheSwitchDoesNotHave) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"a\", \"to\": \"sw1\", \"to_port\": 5}")),
            "error: \"sw1\" has no port 5\n"
            "  --> t.json:8:39   /fabric/cables/0/to_port\n"
            "   |\n"
            " 8 | {\"from\": \"a\", \"to\": \"sw1\", \"to_port\": 5}]}}\n"
            "   |                                       ^ it has 4 ports\n");
}

TEST(TopologyDiagnostics, ACableToItself) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"sw1\", \"to\": \"sw1\"}")),
            "error: a cable joins two different ends\n"
            "  --> t.json:8:23   /fabric/cables/0/to\n"
            "   |\n"
            " 8 | {\"from\": \"sw1\", \"to\": \"sw1\"}]}}\n"
            "   |                       ^^^^^\n"
            "  help: name another switch or endpoint\n");
}

TEST(TopologyDiagnostics, AGraphThatIsNotConnected) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"a\", \"to\": \"sw1\"},\n"
                                  "{\"from\": \"b\", \"to\": \"sw2\"}")),
            "error: there is no path from \"a\" to \"b\"\n"
            "  --> t.json:4:11   /fabric\n"
            "   |\n"
            " 4 | \"fabric\": {\"kind\": \"graph\",\n"
            "   |           ^\n"
            "  help: every endpoint must reach every other one through the cables\n");
}

TEST(TopologyDiagnostics, AGraphNodeWithoutAnEndpointForEachNic) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"graph\", \"endpoints\": [\n"
                                   "{\"name\": \"a0\", \"node\": \"a\"},\n"
                                   "{\"name\": \"a1\", \"node\": \"a\"}],\n"
                                   "\"cables\": [{\"from\": \"a0\", \"to\": \"a1\"}]}",
                                   "")),
            "error: a node has one endpoint for each NIC\n"
            "  --> t.json:6:24   /fabric/endpoints/1/node\n"
            "   |\n"
            " 6 | {\"name\": \"a1\", \"node\": \"a\"}],\n"
            "   |                        ^^^ 2 endpoints, but \"node\" has 1 NIC\n");
}

TEST(TopologyDiagnostics, ANodeTypeThatFitsNoNodeOfAGraphIsOneProblem) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"graph\", \"endpoints\": [\n"
                                   "{\"name\": \"a0\", \"node\": \"a\"},\n"
                                   "{\"name\": \"a1\", \"node\": \"a\"},\n"
                                   "{\"name\": \"b0\", \"node\": \"b\"},\n"
                                   "{\"name\": \"b1\", \"node\": \"b\"}],\n"
                                   "\"cables\": [{\"from\": \"a0\", \"to\": \"b0\"},"
                                   "{\"from\": \"a1\", \"to\": \"b1\"}]}",
                                   "")),
            "error: a node has one endpoint for each NIC\n"
            "  --> t.json:6:24   /fabric/endpoints/1/node\n"
            "   |\n"
            " 6 | {\"name\": \"a1\", \"node\": \"a\"},\n"
            "   |                        ^^^ 2 endpoints, but \"node\" has 1 NIC; 2 nodes are like "
            "that\n");
}

TEST(TopologyDiagnostics, MoreNodesThanAGraphHas) {
  EXPECT_EQ(problem_of(with_graph("{\"from\": \"a\", \"to\": \"b\"}"), 3),
            "error: the graph has 2 nodes, not 3\n"
            "  --> t.json:5:14   /fabric/endpoints\n"
            "   |\n"
            " 5 | \"endpoints\": [{\"name\": \"a\", \"node\": \"a\"}, {\"name\": \"b\", "
            "\"node\": \"b\"}],\n"
            "   |              ^\n");
}

TEST(TopologyDiagnostics, ANicThatTheNodeDoesNotHave) {
  EXPECT_EQ(problem_of("{\"schema\": \"headway/topology/1\", \"name\": \"t\", \"nodes\": 1,\n"
                       "\"node\": {\"accelerator\": \"any\", \"accelerators\": 2,\n"
                       "\"scale_up\": {\"bandwidth\": \"1 GB/s\"}, \"nics\": {\"count\": 2,\n"
                       "\"nearest\": [0, 2], \"bandwidth\": \"1 GB/s\"}},\n"
                       "\"fabric\": {\"kind\": \"single_switch\"}}"),
            "error: no such NIC\n"
            "  --> t.json:4:16   /node/nics/nearest/1\n"
            "   |\n"
            " 4 | \"nearest\": [0, 2], \"bandwidth\": \"1 GB/s\"}},\n"
            "   |                ^ the node has 2, numbered from 0\n");
}

TEST(TopologyDiagnostics, NearestNicsForSomeAcceleratorsOnly) {
  EXPECT_EQ(problem_of("{\"schema\": \"headway/topology/1\", \"name\": \"t\", \"nodes\": 1,\n"
                       "\"node\": {\"accelerator\": \"any\", \"accelerators\": 2,\n"
                       "\"scale_up\": {\"bandwidth\": \"1 GB/s\"}, \"nics\": {\"count\": 2,\n"
                       "\"nearest\": [0], \"bandwidth\": \"1 GB/s\"}},\n"
                       "\"fabric\": {\"kind\": \"single_switch\"}}"),
            "error: \"nearest\" names one NIC for each accelerator\n"
            "  --> t.json:4:12   /node/nics/nearest\n"
            "   |\n"
            " 4 | \"nearest\": [0], \"bandwidth\": \"1 GB/s\"}},\n"
            "   |            ^ 1 NIC for 2 accelerators\n");
}

TEST(TopologyDiagnostics, AScaleUpDomainThatCutsNodes) {
  EXPECT_EQ(problem_of("{\"schema\": \"headway/topology/1\", \"name\": \"t\", \"nodes\": 1,\n"
                       "\"node\": {\"accelerator\": \"any\", \"accelerators\": 4,\n"
                       "\"nics\": {\"bandwidth\": \"1 GB/s\"}, \"scale_up\": {\n"
                       "\"domain\": 6, \"bandwidth\": \"1 GB/s\"}},\n"
                       "\"fabric\": {\"kind\": \"single_switch\"}}"),
            "error: a scale-up domain is made of whole nodes, or a node of whole domains\n"
            "  --> t.json:4:11   /node/scale_up/domain\n"
            "   |\n"
            " 4 | \"domain\": 6, \"bandwidth\": \"1 GB/s\"}},\n"
            "   |           ^ a node has 4 accelerators\n");
}

TEST(TopologyDiagnostics, AnUnknownNodeFileDoesNotHideAnUnknownFabric) {
  EXPECT_EQ(problem_of("{\"schema\": \"headway/topology/1\", \"name\": \"t\", \"nodes\": 1,\n"
                       "\"node\": \"dgx_h10\",\n"
                       "\"fabric\": {\"kind\":\n\"tours\"}}"),
            "error: cannot find \"dgx_h10\"\n"
            "  --> t.json:2:9   /node\n"
            "   |\n"
            " 2 | \"node\": \"dgx_h10\",\n"
            "   |         ^^^^^^^^^\n"
            "  help: did you mean \"dgx_h100\"?\n"
            "error: kind cannot be \"tours\"\n"
            "  --> t.json:4:1   /fabric/kind\n"
            "   |\n"
            " 4 | \"tours\"}}\n"
            "   | ^^^^^^^\n"
            "  help: did you mean \"torus\"? It is one of \"clos\", \"fat_tree\", \"rail_only\", "
            "\"single_switch\", "
            "\"torus\", \"dragonfly\", \"dragonfly_plus\", \"hyperx\", \"graph\"\n");
}

// Flows of d-mod-k do not collide: that is not to be had from Ethernet without a word.
TEST(TopologyDiagnostics, EthernetThatDoesNotSayHowItRoutes) {
  const auto said_of = [](const std::string& fabric) {
    const ReadText read = read_topology_text(with_fabric(fabric));
    EXPECT_TRUE(read.topology.has_value());
    return read.problems;
  };
  const std::string clos =
      "\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\", \"nodes_per_unit\": 2,\n"
      "\"leaf\": {\"uplinks\": 2}, \"spine\": {\"switches\": 2},\n\"transport\": \"";
  EXPECT_EQ(
      said_of(clos + "roce\"}"),
      "warning: \"routing\" is not said: d-mod-k is taken, by which flows do not collide, and "
      "switches of Ethernet hash them\n"
      "  --> t.json:6:14   /fabric/transport\n"
      "   |\n"
      " 6 | \"transport\": \"roce\"}}\n"
      "   |              ^^^^^^\n"
      "  help: write \"routing\": {\"kind\": \"ecmp\", \"queue_pairs\": 4}, \"adaptive\" if they "
      "spread packets, or what is taken if it is meant\n");
  EXPECT_EQ(said_of(clos + "infiniband\"}"), "");
  EXPECT_EQ(said_of(clos + "roce\"}, \"routing\": {\"kind\": \"d-mod-k\"}"), "");
  EXPECT_EQ(said_of("\"fabric\": {\"kind\": \"single_switch\", \"transport\": \"roce\"}"), "");
}

TEST(TopologyDiagnostics, AnExpectationThatIsNotMet) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"single_switch\"}, \"expect\": {\n"
                                   "\"cables\": 5,\n"
                                   "\"switches_by_tier\": [2]}")),
            "error: the file expects 5 cables\n"
            "  --> t.json:5:11   /expect/cables\n"
            "   |\n"
            " 5 | \"cables\": 5,\n"
            "   |           ^ built: 4\n"
            "  help: the counts guard against slips; if this is meant, take them away: "
            "--set /expect=null\n"
            "error: the file expects other numbers of switches\n"
            "  --> t.json:6:21   /expect/switches_by_tier\n"
            "   |\n"
            " 6 | \"switches_by_tier\": [2]}}\n"
            "   |                     ^ built, bottom-up: 1\n"
            "  help: the counts guard against slips; if this is meant, take them away: "
            "--set /expect=null\n");
}

}  // namespace
}  // namespace headway
