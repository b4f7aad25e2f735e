#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/network/analysis/topology_counts.h"
#include "tests/sim/network/read_text.h"
#include "tests/sim/network/routing/routes.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> switches(const std::string& fabric, int nodes, int nics = 8) {
  std::vector<int> counts;
  const auto cluster = cluster_of(topology_text(nodes, nics, fabric));
  for (const auto& tier : topology_counts(*cluster).tiers) counts.push_back(tier.switches);
  return counts;
}

constexpr char kSuperPod[] = R"({"kind": "fat_tree", "attach": "rail", "ports": 64})";

TEST(FatTree, GrowsAsTheDgxSuperPodDoes) {
  // RA-11333-001, "Compute fabric": 1, 2, 3 and 4 scalable units of 32 nodes (31, 63, 95, 127 with
  // the fabric manager's place) have 8, 16, 24 and 32 leaves, 4, 8, 16 and 16 spines. By the rule:
  // 32 uplinks a leaf; cables a pair are the largest divisor of 32 not above 64 / leaves: 8, 4,
  // 2, 2.
  EXPECT_THAT(switches(kSuperPod, 31), ElementsAre(8, 4));
  EXPECT_THAT(switches(kSuperPod, 63), ElementsAre(16, 8));
  EXPECT_THAT(switches(kSuperPod, 95), ElementsAre(24, 16));
  EXPECT_THAT(switches(kSuperPod, 127), ElementsAre(32, 16));
}

TEST(FatTree, HasThreeTiersWhereTwoCannotHoldTheNodes) {
  // Two tiers: 64 leaves, that is 8 units of 32 nodes. One node more makes 72 leaves in pods of
  // 64 / 2 / 8 = 4 units: three pods. A pod has 32 spines; each has 32 uplinks, to 32 planes of
  // cores; a core reaches 3 pods by floor(64 / 3) = 21 cables at most, of which 16 divides 32: two
  // cores a plane.
  EXPECT_THAT(switches(kSuperPod, 256), ElementsAre(64, 32));
  EXPECT_THAT(switches(kSuperPod, 257), ElementsAre(72, 96, 64));
  // 64 pods are full at 64^3 / 4 accelerators: the fat tree of Al-Fares and others.
  const std::string tiny = R"({"kind": "fat_tree", "attach": "rack", "ports": 4})";
  EXPECT_THAT(switches(tiny, 16, 1), ElementsAre(8, 8, 4));  // k = 4: 16 hosts, 20 switches
}

TEST(FatTree, OversubscriptionLeavesALeafMorePorts) {
  // 3:1 on 32 ports: 24 down, 8 up. 48 nodes of 2 NICs by rack: 12 a leaf, 4 leaves; 8 cables a
  // pair at most 32 / 4: one spine.
  const std::string three =
      R"({"kind": "fat_tree", "attach": "rack", "ports": 32, "oversubscription": 3})";
  EXPECT_THAT(switches(three, 48, 2), ElementsAre(4, 1));
  const auto cluster = cluster_of(topology_text(48, 2, three));
  EXPECT_EQ(topology_counts(*cluster).tiers[0].oversubscription, 3.0);
}

TEST(FatTree, SaysWhereOversubscriptionIsOfEmptyPorts) {
  // 2:1 on 64 ports: 42 down, 21 up. 32 nodes on leaves for 42 have 32 / 21 = 1.52:1.
  const auto text = [](const char* unit) {
    return topology_text(32, 8,
                         std::string(R"({"kind": "fat_tree", "attach": "rail", "ports": 64,
        "oversubscription": 2)") +
                             unit + "}");
  };
  const ReadText half_empty = read_topology_text(text(""));
  EXPECT_NE(half_empty.problems.find("1.52:1 for 32 nodes where 42 have room"), std::string::npos);
  EXPECT_NE(half_empty.problems.find("\"nodes_per_unit\": 32 fills them"), std::string::npos);
  const auto full = cluster_of(text(R"(, "nodes_per_unit": 32)"));  // without a problem
  EXPECT_EQ(topology_counts(*full).tiers[0].oversubscription, 2.0);
}

TEST(FatTree, RoutesAsAClosDoes) {
  const auto cluster = cluster_of(topology_text(257, 8, kSuperPod));
  // node 0, NIC 0 to node 256, NIC 0: up three tiers and down again.
  EXPECT_EQ(route_of(*cluster, 0, 256 * 8).size(), 6U);
}

TEST(FatTree, SaysHowManyNodesItHasRoomFor) {
  // Two ports down, one unit a pod, four pods.
  const std::string text =
      topology_text(17, 1, R"({"kind": "fat_tree", "attach": "rack", "ports": 4})");
  EXPECT_THAT(problem_of(text), HasSubstr("three tiers of such switches hold 16 nodes, not 17"));
}

TEST(FatTree, RefusesASwitchWithoutRoomForANode) {
  const std::string text =
      topology_text(2, 8, R"({"kind": "fat_tree", "attach": "rack", "ports": 8})");
  EXPECT_THAT(problem_of(text), HasSubstr("a leaf has no room for the 8 of a node"));
}

}  // namespace
}  // namespace headway
