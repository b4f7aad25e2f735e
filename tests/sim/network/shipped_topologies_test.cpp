#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "read_text.h"
#include "sim/network/analysis/topology_counts.h"
#include "tests/sim/network/routing/routes.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// Reads a file of topologies/; its "expect" is checked as long as `nodes` is nothing.
std::shared_ptr<const Cluster> shipped(const std::string& name,
                                       std::optional<int> nodes = std::nullopt) {
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  const auto part = files.open(name, "topologies");
  auto read = part ? read_topology(*part, files, nodes) : std::nullopt;
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) problems += rendered(problem);
  EXPECT_EQ(problems, "") << name;
  return read ? read->cluster : nullptr;
}

TEST(ShippedTopologies, AllAreReadAndMeetWhatTheyExpect) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() + "/topologies")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    EXPECT_NE(shipped(entry.path().string()), nullptr);
  }
  EXPECT_GE(files, 11);
}

TEST(ShippedTopologies, AllCiteASource) {
  for (const auto& entry : fs::recursive_directory_iterator(source_folder() + "/topologies")) {
    if (entry.path().extension() != ".json") continue;
    Diagnostics diagnostics;
    const auto document = JsonDocument::read(entry.path().string(), diagnostics);
    ASSERT_NE(document, nullptr);
    EXPECT_GT(document->root().value("source", "").size(), 20U) << entry.path();
  }
}

TEST(ShippedTopologies, TheSuperPodHasTheSwitchesOfItsTable) {
  // Four units of 32 nodes: 32 leaves of 32 + 32 ports; 1,024 uplinks are 16 spines of 64 ports.
  const auto cluster = shipped("dgx_h100_superpod", 128);
  const TopologyCounts counts = topology_counts(*cluster);
  EXPECT_EQ(cluster->accelerators(), 1024);
  EXPECT_EQ(counts.tiers[0].switches, 32);
  EXPECT_EQ(counts.tiers[1].switches, 16);
  EXPECT_EQ(counts.cables, 2048);
  EXPECT_EQ(counts.tiers[0].oversubscription, 1.0);
  EXPECT_EQ(cluster->topology.link(0).capacity, 50_GBps);
  EXPECT_EQ(cluster->node_type.scale_up_bandwidth, 450_GBps);
}

TEST(ShippedTopologies, SixteenThousandAcceleratorsAreBuiltInAMoment) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cluster = shipped("dgx_h100_superpod_16k");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(cluster->accelerators(), 16384);
  EXPECT_LT(took.count(), 0.5);
}

TEST(ShippedTopologies, SixteenThousandAcceleratorsShiftWithoutContention) {
  const auto cluster = shipped("dgx_h100_superpod_16k");
  for (const int shift : {1, 128, 1000}) {
    LinkLoads loads;
    for (int i = 0; i < 16384; ++i) {
      add_flow(*cluster, cluster->endpoint_of(i), cluster->endpoint_of((i + 8 * shift) % 16384),
               loads);
    }
    EXPECT_EQ(most_loaded(loads), 1) << shift;
  }
}

TEST(ShippedTopologies, MetaCrossesPodsAtSevenToOne) {
  // 192 racks lead to a cluster switch, 27 uplinks lead on: 7.11. A rack: 16 down, 18 up.
  const auto cluster = shipped("meta_24k_roce_h100");
  const TopologyCounts counts = topology_counts(*cluster);
  EXPECT_NEAR(*counts.tiers[0].oversubscription, 16.0 / 18.0, 1e-12);
  EXPECT_NEAR(*counts.tiers[1].oversubscription, 192.0 / 27.0, 1e-12);
  EXPECT_EQ(cluster->nodes, 3072);
}

TEST(ShippedTopologies, MetaAcceptsTheNodesOfLlama3) {
  // 2,048 nodes are 1,024 racks in 5 whole pods and a third of one: 6 x 18 cluster switches.
  const auto cluster = shipped("meta_24k_roce_h100", 2048);
  const TopologyCounts counts = topology_counts(*cluster);
  EXPECT_EQ(cluster->accelerators(), 16384);
  EXPECT_EQ(counts.tiers[0].switches, 1024);
  EXPECT_EQ(counts.tiers[1].switches, 108);
  EXPECT_EQ(counts.tiers[2].switches, 18);
}

TEST(ShippedTopologies, RailsOfTheA100SuperPodStayInTheirSpineGroup) {
  const auto cluster = shipped("dgx_a100_superpod");
  const Topology& topology = cluster->topology;
  EXPECT_EQ(cluster->topology.link(0).capacity, 25_GBps);
  EXPECT_EQ(way_of(*cluster, topology.find("node0/nic3"), topology.find("node139/nic3")),
            // 139 mod 10 = 9
            "node0/nic3 > leaf/unit0/rail3 > spine/pod0/rail3/9 > leaf/unit6/rail3 > node139/nic3");
  EXPECT_EQ(route_of(*cluster, topology.find("node0/nic3"), topology.find("node139/nic4")).size(),
            6U);
}

TEST(ShippedTopologies, RingsAreOfFiftyGigabytesASecondAndHalfAMicrosecond) {
  for (const int ranks : {8, 64, 512, 4096}) {
    const auto ring = shipped("ring_" + std::to_string(ranks));
    EXPECT_EQ(ring->accelerators(), ranks);
    const auto route = route_of(*ring, ranks - 1, 0);
    ASSERT_EQ(route.size(), 1U);
    EXPECT_EQ(ring->topology.link(route[0].link).capacity, 50_GBps);
    EXPECT_EQ(ring->topology.latency(route[0].link), 500_ns);
  }
}

}  // namespace
}  // namespace headway
