#include "sim/network/read_topology.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "read_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

TEST(ReadTopology, TellsTheNodeAndTheDefaults) {
  const auto cluster = cluster_of(topology_text(3, 2, R"({"kind": "single_switch"})"));
  EXPECT_EQ(cluster->name, "t");
  EXPECT_EQ(cluster->nodes, 3);
  EXPECT_EQ(cluster->scale_up_domain, 2);
  EXPECT_EQ(cluster->node_type.accelerator, "any");
  EXPECT_EQ(cluster->node_type.nic_bandwidth, 12.5_GBps);
  EXPECT_EQ(cluster->node_type.nic_latency, 800_ns);
  EXPECT_EQ(cluster->node_type.scale_up_bandwidth, 100_GBps);
  EXPECT_EQ(cluster->node_type.scale_up_latency, 500_ns);
  EXPECT_EQ(cluster->node_type.nearest_nic, (std::vector<int>{0, 1}));
  ASSERT_NE(cluster->routing, nullptr);
}

TEST(ReadTopology, ResolvedFormWritesOutEveryDefault) {
  const ReadText read = read_topology_text(
      topology_text(3, 2, R"({"kind": "single_switch", "bandwidth": "200 Gb/s"})"));
  EXPECT_EQ(*read.topology->resolved, nlohmann::json::parse(R"({
      "schema": "headway/topology/1", "name": "t", "source": "", "nodes": 3,
      "node": {"schema": "headway/node/1", "name": "node", "source": "", "accelerator": "any",
               "accelerators": 2,
               "processor": "other",
               "scale_up": {"bandwidth": "100 GB/s", "latency": "500 ns", "domain": 2,
                            "reduces": false},
               "nics": {"count": 2, "bandwidth": "12.5 GB/s", "latency": "800 ns",
                        "bus_bandwidth": "12.5 GB/s", "nearest": [0, 1]}},
      "fabric": {"kind": "single_switch", "planes": 1, "bandwidth": "25 GB/s", "cable_latency": "10 ns",
                 "switch_latency": "200 ns"},
      "routing": {"kind": "shortest"}})"));
}

TEST(ReadTopology, ResolvedFormReadsBackToTheSame) {
  for (const char* fabric :
       {R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 2, "leaf": {}, "spine": {}})",
        R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 1, "units_per_pod": 2,
            "leaf": {"oversubscription": 2}, "spine": {}, "core": {}})",
        R"({"kind": "torus", "dims": [4, 2]})",
        R"({"kind": "torus", "dims": [4, 2], "wrap": [true, false]})"}) {
    const ReadText first = read_topology_text(topology_text(4, 2, fabric));
    ASSERT_EQ(first.problems, "") << fabric;
    const ReadText again = read_topology_text(first.topology->resolved->dump());
    ASSERT_EQ(again.problems, "") << fabric;
    EXPECT_EQ(again.topology->resolved, first.topology->resolved);
  }
}

TEST(ReadTopology, TheNumberOfNodesAskedForWins) {
  const std::string text =
      topology_text(3, 1, R"({"kind": "single_switch"})", R"(, "expect": {"endpoints": 3})");
  EXPECT_EQ(cluster_of(text)->nodes, 3);
  const ReadText more = read_topology_text(text, 7);
  EXPECT_EQ(more.problems, "");
  EXPECT_EQ(more.topology->cluster->nodes, 7);
  EXPECT_EQ((*more.topology->resolved)["nodes"], 7);
  EXPECT_FALSE(more.topology->resolved->contains("expect"));
}

TEST(ReadTopology, NodeTypesAreFilesToo) {
  const auto cluster = cluster_of(R"({"schema": "headway/topology/1", "name": "t", "nodes": 2,
      "node": "dgx_a100", "fabric": {"kind": "single_switch"}})");
  EXPECT_EQ(cluster->node_type.name, "dgx-a100");
  EXPECT_EQ(cluster->node_type.nic_bandwidth, 25_GBps);
  EXPECT_EQ(cluster->accelerators(), 16);
}

TEST(ReadTopology, AFileMustNameItsSchema) {
  const ReadText read = read_topology_text(
      R"({"name": "t", "nodes": 2, "node": "dgx_a100", "fabric": {"kind": "single_switch"}})");
  EXPECT_FALSE(read.topology.has_value());
  EXPECT_EQ(read.problems,
            "error: missing field \"schema\"\n"
            "  --> t.json:1:1\n"
            "   |\n"
            " 1 | {\"name\": \"t\", \"nodes\": 2, \"node\": \"dgx_a100\", \"fabric\": {\"kind\": "
            "\"single_switch\"}}\n"
            "   | ^\n"
            "  help: for example \"schema\": \"headway/topology/1\"\n");
}

TEST(ReadTopology, APartWrittenInPlaceNeedNot) {
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  const JsonCursor scenario(
      JsonDocument::parse("s.json", R"({"cluster": {"name": "t", "nodes": 2, "node": "dgx_a100",
                                "fabric": {"kind": "single_switch"}}})",
                          diagnostics));
  const auto read = read_topology(*scenario.member("cluster"), files);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->cluster->nodes, 2);
}

TEST(ReadTopology, ANameIsAFileOfTheLibraryOrBesideTheReferringOne) {
  const ScratchFolder folder;
  folder.write("own.json", topology_text(5, 1, R"({"kind": "single_switch"})"));
  const std::string scenario =
      folder.write("scenario.json", R"({"own": "own.json", "shipped": "ring_8"})");
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  const auto root = files.open(scenario, "scenarios");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(read_topology(*root->member("own"), files)->cluster->nodes, 5);
  EXPECT_EQ(read_topology(*root->member("shipped"), files)->cluster->nodes, 8);
}

TEST(ReadTopology, OverridesReachIntoIt) {
  Diagnostics diagnostics;
  InputFiles files({{.pointer = "/fabric/leaf/oversubscription", .value_text = "2"},
                    {.pointer = "/node/nics/bandwidth", .value_text = "200 Gb/s"}},
                   {source_folder()}, diagnostics);
  const auto root = files.open("dgx_h100_superpod", "topologies");
  ASSERT_TRUE(root.has_value());
  const auto read = read_topology(*root, files);
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) problems += problem.message + "\n";
  EXPECT_EQ(problems, "the oversubscription is not what the uplinks make\n");
  EXPECT_FALSE(read.has_value());
}

}  // namespace
}  // namespace headway
