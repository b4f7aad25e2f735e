#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

constexpr auto kAllReduce = CollectiveKind::all_reduce;

std::vector<std::int32_t> everybody(const Cluster& cluster) {
  std::vector<std::int32_t> members(static_cast<std::size_t>(cluster.accelerators()));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

/// Four nodes of two accelerators on rails under two spines.
std::shared_ptr<const Cluster> rails() {
  return cluster_of(topology_text(4, 2, R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4,
                                            "leaf": {"uplinks": 2}, "spine": {}})"));
}

double most_loaded(const FlowPlan& plan) {
  double most = 0.0;
  for (const LinkLoad& load : plan.links) most = std::max(most, load.weight);
  return most;
}

TEST(CollectiveShapes, AHierarchySendsTheShareOfARailAroundItsRing) {
  // Each of two rails carries half a message around four nodes: 2 x 3/4 of a half, 3/4. Inside, two
  // members exchange 2 x 1/2 of it.
  const auto cluster = rails();
  const NetworkCosts costs{.scale_up_latency = 1_us, .scale_out_latency = 10_us};
  const FlowPlan plan = collective_plan(*cluster, costs, kAllReduce,
                                        CollectiveAlgorithm::hierarchical, {everybody(*cluster)});
  EXPECT_DOUBLE_EQ(most_loaded(plan), 0.75);
  EXPECT_EQ(plan.rate_cap, cluster->node_type.scale_up_bandwidth);
  // 2 x 3 steps between nodes, whose two cables and switch add to the 10 us; 2 x 1 inside.
  EXPECT_GT(plan.latency.count(), 62e-6);
  EXPECT_LT(plan.latency.count(), 64e-6);
}

/// Two sites of four nodes with one accelerator, 1,000 km apart: 5 ms.
std::shared_ptr<const Cluster> two_sites() {
  return cluster_of(topology_text(
      8, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {}, "spine": {},
                "sites": {"count": 2, "bandwidth": "100 GB/s", "kilometres": 1000}})"));
}

TEST(CollectiveShapes, OfALongWayCountsHowOftenItIsOnOne) {
  // Between two sites of four nodes, numbered through. Once around the ring both long hops are
  // passed once, on the 2 x 7 of 8 hops of an all-reduce 14/8 of that. Of a double tree the longest
  // way is 1 to 2 to 4 to 0, mirrored 6 to 5 to 3 to 7: two long hops up and two down. Of parallel
  // trees 3 to 7 to 1 to 2: two.
  const auto cluster = two_sites();
  const auto long_hops = [&](CollectiveKind kind, CollectiveAlgorithm algorithm) {
    return collective_plan(*cluster, {}, kind, algorithm, {everybody(*cluster)}).latency / 5_ms;
  };
  constexpr double kLocalHops = 0.01;  // microseconds beside milliseconds
  EXPECT_NEAR(long_hops(kAllReduce, CollectiveAlgorithm::ring), 3.5, kLocalHops);
  EXPECT_NEAR(long_hops(kAllReduce, CollectiveAlgorithm::hierarchical), 3.5, kLocalHops);
  EXPECT_NEAR(long_hops(kAllReduce, CollectiveAlgorithm::tree), 4.0, kLocalHops);
  EXPECT_NEAR(long_hops(kAllReduce, CollectiveAlgorithm::nvls), 4.0, kLocalHops);
  EXPECT_NEAR(long_hops(CollectiveKind::all_gather, CollectiveAlgorithm::pat), 2.0, kLocalHops);
}

TEST(CollectiveShapes, SwitchesOfADomainTakeTheMessageOnce) {
  // Two nodes: each NIC sends half of its rail's half up one tree and half down the other.
  const auto cluster = cluster_of(topology_text(2, 2, R"({"kind": "single_switch"})"));
  const NetworkCosts costs{.scale_up_efficiency = 0.5, .scale_out_latency = 10_us};
  const FlowPlan plan = collective_plan(*cluster, costs, kAllReduce, CollectiveAlgorithm::nvls,
                                        {everybody(*cluster)});
  EXPECT_DOUBLE_EQ(most_loaded(plan), 0.5);
  EXPECT_EQ(plan.rate_cap, 0.5 * cluster->node_type.scale_up_bandwidth);
}

TEST(CollectiveShapes, RailLocalMessagesStayBelowTheirLeaf) {
  const auto cluster = rails();
  NetworkCosts costs;
  const auto used = [&] {
    return collective_plan(*cluster, costs, CollectiveKind::all_to_all, CollectiveAlgorithm::ring,
                           {everybody(*cluster)});
  };
  const auto crosses_switches = [&](const FlowPlan& plan) {
    return std::ranges::any_of(plan.links, [&](const LinkLoad& load) {
      const Link& link = cluster->topology.link(load.link);
      return cluster->topology.is_switch(link.from) && cluster->topology.is_switch(link.to);
    });
  };
  EXPECT_TRUE(crosses_switches(used()));
  costs.is_rail_local = true;
  EXPECT_FALSE(crosses_switches(used()));
  // Each NIC has for 6 ranks elsewhere 1/7 of a message each, either way.
  EXPECT_NEAR(most_loaded(used()), 6.0 / 7.0, 1e-12);
  // 1/7 for the neighbour, and 3/7 that he has for the other nodes' accelerators on this rail.
  EXPECT_NEAR(used().rate_cap / cluster->node_type.scale_up_bandwidth, 7.0 / 4.0, 1e-12);
}

TEST(CollectiveShapes, MessagesPostedAtOnceTakeTheHostsTimeEach) {
  // Two nodes of two: each rank sends to two elsewhere and receives from two, 4 messages of 2 us,
  // then waits 10 us and the way. Without that time, the 10 us are of each of the three messages,
  // and of hardware alone, which does not post one after the other, they come once.
  const auto cluster = cluster_of(topology_text(2, 2, R"({"kind": "single_switch"})"));
  NetworkCosts costs{.scale_out_latency = 10_us};
  const auto latency = [&] {
    return collective_plan(*cluster, costs, CollectiveKind::all_to_all, CollectiveAlgorithm::ring,
                           {everybody(*cluster)})
        .latency.count();
  };
  const double step = latency() - 20e-6;
  EXPECT_GT(step, 10e-6);
  EXPECT_LT(step, 11e-6);
  costs.message_overhead = 2_us;
  EXPECT_NEAR(latency(), step + 8e-6, 1e-12);
  costs = {.scale_out_latency = 10_us, .posts_at_once = true};
  EXPECT_NEAR(latency(), step, 1e-12);
}

TEST(CollectiveShapes, MessagesToManyAreOnALongWayAtOnce) {
  // From two sites to all others the way of 5 ms is passed once.
  const auto cluster = two_sites();
  for (const CollectiveKind kind :
       {CollectiveKind::all_to_all, CollectiveKind::gather, CollectiveKind::scatter}) {
    for (const bool posts_at_once : {false, true}) {
      const FlowPlan plan =
          collective_plan(*cluster, {.scale_out_latency = 10_us, .posts_at_once = posts_at_once},
                          kind, CollectiveAlgorithm::ring, {everybody(*cluster)});
      EXPECT_NEAR(plan.latency.count(), posts_at_once ? 5.01e-3 : 5.07e-3, 5e-6)
          << collective_name(kind);
    }
  }
}

TEST(CollectiveShapes, NeighboursOfADomainSendOverItsFabric) {
  const auto cluster = rails();
  const auto sent = [&](const std::vector<std::int32_t>& members) {
    return collective_plan(*cluster, {.scale_up_efficiency = 0.5}, CollectiveKind::send_receive,
                           CollectiveAlgorithm::ring, {members});
  };
  // Both ways between two of a node; between nodes each NIC sends and receives once.
  EXPECT_EQ(sent({0, 1}).rate_cap, 0.5 * cluster->node_type.scale_up_bandwidth);
  EXPECT_TRUE(sent({0, 1}).links.empty());
  EXPECT_DOUBLE_EQ(most_loaded(sent({0, 2, 4})), 1.0);
  EXPECT_GT(sent({0, 2, 4}).rate_cap, 0.5 * cluster->node_type.scale_up_bandwidth);
}

}  // namespace
}  // namespace headway
