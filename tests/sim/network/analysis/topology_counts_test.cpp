#include "sim/network/analysis/topology_counts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/network/read_text.h"

namespace headway {
namespace {

// 8 nodes of 2 NICs in racks of 2 nodes: 4 leaves with 4 ports of 100 Gb/s down and 2 uplinks of
// 100 Gb/s, so 2:1; 2 spines.
constexpr char kOversubscribed[] = R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2,
    "leaf": {"oversubscription": 2}, "spine": {}})";

TEST(TopologyCounts, TellsTiersAndTheirOversubscription) {
  const TopologyCounts counts = topology_counts(*cluster_of(topology_text(8, 2, kOversubscribed)));
  EXPECT_EQ(counts.endpoints, 16);
  EXPECT_EQ(counts.switches, 6);
  EXPECT_EQ(counts.cables, 24);
  ASSERT_EQ(counts.tiers.size(), 2U);
  EXPECT_EQ(counts.tiers[0].switches, 4);
  EXPECT_EQ(counts.tiers[0].oversubscription, 2.0);
  EXPECT_EQ(counts.tiers[1].oversubscription, std::nullopt);
  ASSERT_EQ(counts.cable_classes.size(), 2U);
  EXPECT_EQ(counts.cable_classes[0].lower_tier, -1);
  EXPECT_EQ(counts.cable_classes[0].cables, 16);
  EXPECT_EQ(counts.cable_classes[1].cables, 8);
}

TEST(TopologyCounts, MiddleTiersCompareBothSides) {
  // 4 leaves of 2 ports and 2 uplinks; pods of 2 leaves and 2 spines, whose 2 ports down meet
  // 1 uplink of 400 Gb/s: 2 x 100 / 400.
  const TopologyCounts counts = topology_counts(
      *cluster_of(topology_text(8, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2,
          "units_per_pod": 2, "leaf": {}, "spine": {"uplinks": 1},
          "core": {"bandwidth": "400 Gb/s"}})")));
  ASSERT_EQ(counts.tiers.size(), 3U);
  EXPECT_EQ(counts.tiers[0].oversubscription, 1.0);
  EXPECT_EQ(counts.tiers[1].oversubscription, 0.5);
}

TEST(TopologyCounts, WhatIsOfNoHostIsNotServed) {
  // Two hosts below a leaf with two cables up: 2 x 100 over 2 x 100. The third port of the leaf
  // leads to its own aggregation node, through which no host sends more.
  const TopologyCounts counts = topology_counts(*cluster_of(topology_text(2, 1, R"({
      "kind": "graph", "bandwidth": "100 Gb/s",
      "endpoints": [{"name": "a", "node": "a"}, {"name": "b", "node": "b"},
                    {"name": "an", "device": true}],
      "switches": [{"name": "leaf"}, {"name": "spine"}],
      "cables": [{"from": "a", "to": "leaf"}, {"from": "b", "to": "leaf"},
                 {"from": "an", "to": "leaf"}, {"from": "leaf", "to": "spine"},
                 {"from": "leaf", "to": "spine"}]})")));
  EXPECT_EQ(counts.endpoints, 3);
  EXPECT_EQ(counts.cables, 5);
  EXPECT_EQ(counts.tiers.at(0).oversubscription, 1.0);
}

TEST(TopologyCounts, AsJsonHasUnitsInItsKeys) {
  const TopologyCounts counts = topology_counts(*cluster_of(topology_text(8, 2, kOversubscribed)));
  EXPECT_EQ(counts_json(counts), nlohmann::json::parse(R"({
      "endpoints": 16, "switches": 6, "cables": 24, "cables_down": 0,
      "tiers": [{"switches": 4, "oversubscription": 2.0}, {"switches": 2}],
      "cable_classes": [
        {"between": "endpoints - tier 0", "bandwidth_bytes_per_s": 12.5e9, "cables": 16},
        {"between": "tier 0 - tier 1", "bandwidth_bytes_per_s": 12.5e9, "cables": 8}]})"));
}

TEST(TopologyCounts, ForPeopleAreTwoTables) {
  const TopologyCounts counts = topology_counts(*cluster_of(topology_text(8, 2, kOversubscribed)));
  EXPECT_EQ(tier_table(counts).text(2),
            "  tier  switches  oversubscription\n"
            "  0            4               2:1\n"
            "  1            2\n");
  EXPECT_EQ(cable_table(counts).text(2),
            "  cables between      bandwidth  cables\n"
            "  endpoints - tier 0  12.5 GB/s      16\n"
            "  tier 0 - tier 1     12.5 GB/s       8\n");
}

TEST(TopologyCounts, ARingHasNoTiers) {
  const TopologyCounts counts =
      topology_counts(*cluster_of(topology_text(5, 1, R"({"kind": "torus", "dims": [5]})")));
  EXPECT_TRUE(counts.tiers.empty());
  EXPECT_EQ(cable_table(counts).text(),
            "cables between         bandwidth  cables\n"
            "endpoints - endpoints  12.5 GB/s       5\n");
}

}  // namespace
}  // namespace headway
