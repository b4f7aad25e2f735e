#include "sim/programs/flows/flow_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/base/limits.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

std::vector<std::int32_t> first(int count) {
  std::vector<std::int32_t> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

/// Seconds of a collective over all accelerators, as the closed form of its plan has it.
double idle_seconds(const Cluster& cluster, const NetworkCosts& costs, CollectiveKind kind,
                    CollectiveAlgorithm algorithm, const CollectiveGroups& groups, Bytes message) {
  const FlowPlan plan = collective_plan(cluster, costs, kind, algorithm, groups);
  const double factor =
      collective_volume(kind, algorithm, static_cast<int>(groups.front().size())).bytes_factor;
  return idle_time(plan, cluster.topology, factor * message).count();
}

double ring_all_reduce_seconds(const Cluster& cluster, const NetworkCosts& costs, Bytes message) {
  return idle_seconds(cluster, costs, CollectiveKind::all_reduce, CollectiveAlgorithm::ring,
                      {first(cluster.accelerators())}, message);
}

/// Where links are not told, routes that are alike are asked for once.
TEST(FlowPlans, LatenciesAreThoseOfTheRoutesHoweverMuchAPlanTells) {
  // Two nodes of two a leaf, two leaves a pod, two pods: rings and trees cross every tier.
  const std::string clos =
      R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "units_per_pod": 2,)"
      R"( "leaf": {"uplinks": 4, "cable_latency": "11 ns", "switch_latency": "100 ns"},)"
      R"( "spine": {"cable_latency": "130 ns", "switch_latency": "300 ns", "uplinks": 2},)"
      R"( "core": {"cable_latency": "1700 ns", "switch_latency": "500 ns", "switches": 4}})";
  for (const char* routing : {"d-mod-k", "adaptive", "ecmp"}) {
    const auto cluster = cluster_of(
        topology_text(8, 2, clos, std::string(R"(, "routing": {"kind": ")") + routing + "\"}"));
    ASSERT_NE(cluster, nullptr);
    const NetworkCosts costs = ideal_network_costs(cluster->node_type);
    for (const CollectiveAlgorithm algorithm :
         {CollectiveAlgorithm::ring, CollectiveAlgorithm::tree}) {
      const auto plan = [&](PlanDetail detail) {
        return collective_plan(*cluster, costs, CollectiveKind::all_reduce, algorithm, {first(16)},
                               detail);
      };
      const FlowPlan whole = plan(PlanDetail::fabric);
      const FlowPlan idle = plan(PlanDetail::idle_nic);
      EXPECT_FALSE(whole.links.empty());
      EXPECT_TRUE(idle.links.empty());
      EXPECT_EQ(idle.latency, whole.latency) << routing;
    }
  }
}

TEST(FlowPlans, ATransferLoadsItsPathAndTakesItsLatency) {
  const auto cluster = cluster_of(ClusterText{.nodes = 3}.text());
  const std::vector<std::int32_t> from = {0};
  const std::vector<std::int32_t> to = {2};
  const FlowPlan plan = transfer_plan(*cluster, ideal_network_costs(cluster->node_type), from, to);
  ASSERT_EQ(plan.links.size(), 2U);
  EXPECT_DOUBLE_EQ(plan.latency.count(), 2e-6);
  EXPECT_FALSE(is_finite(plan.rate_cap));
  // 2 us + 1 GB / 50 GB/s
  EXPECT_DOUBLE_EQ(idle_time(plan, cluster->topology, 1_GB).count(), 20.002e-3);
}

TEST(FlowPlans, AnAcceleratorSendsByAllNicsThatANodeHasForIt) {
  // Two of four each: 2 us + 0.5 GB / 50 GB/s, over the NICs of accelerator 1 and its peer.
  const auto cluster = cluster_of(ClusterText{.nodes = 2, .accelerators = 2, .nics = 4}.text());
  EXPECT_EQ(cluster->node_type.nics_of_accelerator, 2);
  EXPECT_EQ(cluster->endpoint_of(1), cluster->endpoints[2]);
  EXPECT_EQ(cluster->endpoint_of(1, 1), cluster->endpoints[3]);
  EXPECT_EQ(cluster->endpoint_on_rail_of(0, 3, 1), cluster->endpoints[3]);
  const std::vector<std::int32_t> from = {1};
  const std::vector<std::int32_t> to = {3};
  const FlowPlan plan = transfer_plan(*cluster, ideal_network_costs(cluster->node_type), from, to);
  ASSERT_EQ(plan.links.size(), 4U);
  for (const LinkLoad& load : plan.links) EXPECT_DOUBLE_EQ(load.weight, 0.5);
  EXPECT_DOUBLE_EQ(idle_time(plan, cluster->topology, 1_GB).count(), 10.002e-3);
}

TEST(FlowPlans, ParallelAggregatedTreesSendMostToTheNextNeighbour) {
  // What comes from 1, 3 and 5 of six places back comes by the next neighbour, from 2 by the second
  // and from 4 by the fourth: 3 + 1 + 1 sixths of the message pass each NIC, in three steps of 2
  // us.
  const auto cluster = cluster_of(ClusterText{.nodes = 6}.text());
  const NetworkCosts costs = ideal_network_costs(cluster->node_type);
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const FlowPlan plan =
        collective_plan(*cluster, costs, kind, CollectiveAlgorithm::pat, {first(6)});
    EXPECT_DOUBLE_EQ(plan.latency.count(), 6e-6);
    ASSERT_EQ(plan.links.size(), 12U);
    for (const LinkLoad& load : plan.links) EXPECT_NEAR(load.weight, 5.0 / 6.0, 1e-15);
    EXPECT_NEAR(idle_seconds(*cluster, costs, kind, CollectiveAlgorithm::pat, {first(6)}, 6_GB),
                6e-6 + 5.0 / 50.0, 1e-12);
  }
  // On four nodes of two, whose NICs carry half of what a node sends each: 2 + 1 quarters of the
  // message in two steps, half of which each member hands on to the other one of its node.
  const auto pairs = cluster_of(ClusterText{.nodes = 4, .accelerators = 2, .nics = 2}.text());
  const FlowPlan plan =
      collective_plan(*pairs, ideal_network_costs(pairs->node_type), CollectiveKind::all_gather,
                      CollectiveAlgorithm::pat, {first(8)});
  EXPECT_DOUBLE_EQ(plan.latency.count(), 2 * 2e-6 + 0.5e-6);
  ASSERT_EQ(plan.links.size(), 16U);
  for (const LinkLoad& load : plan.links) EXPECT_NEAR(load.weight, 3.0 / 8.0, 1e-15);
  EXPECT_NEAR(plan.rate_cap.count(), 400e9 / 0.5, 1.0);
}

TEST(FlowPlans, ATransferInsideADomainUsesNoLink) {
  const auto cluster = cluster_of(ClusterText{.nodes = 1, .accelerators = 4, .nics = 4}.text());
  const std::vector<std::int32_t> from = {0, 1};
  const std::vector<std::int32_t> to = {2, 3};
  const NetworkCosts costs{
      .scale_up_efficiency = 0.5, .scale_up_latency = 3_us, .scale_up_overhead = 4_us};
  const FlowPlan plan = transfer_plan(*cluster, costs, from, to);
  EXPECT_TRUE(plan.links.empty());
  // 3 us + 4 us + 1 GB / (0.5 x 400 GB/s)
  EXPECT_DOUBLE_EQ(idle_time(plan, cluster->topology, 1_GB).count(), 5.007e-3);
}

TEST(FlowPlans, SendersThatShareANicShareItsRate) {
  // 2 accelerators on one NIC send 1 GB each: 2 GB / 50 GB/s. With 80 % of the NIC: 2 GB / 40 GB/s.
  const auto cluster = cluster_of(ClusterText{.nodes = 2, .accelerators = 2}.text());
  const std::vector<std::int32_t> from = {0, 1};
  const std::vector<std::int32_t> to = {2, 3};
  const FlowPlan ideal = transfer_plan(*cluster, ideal_network_costs(cluster->node_type), from, to);
  EXPECT_DOUBLE_EQ(idle_time(ideal, cluster->topology, 1_GB).count(), 40.002e-3);
  const FlowPlan real = transfer_plan(*cluster, {.scale_out_efficiency = 0.8}, from, to);
  EXPECT_DOUBLE_EQ(idle_time(real, cluster->topology, 1_GB).count(), 50.002e-3);
}

TEST(FlowPlans, WhatSoftwareAddsIsChargedByTheStepAndByTheCollective) {
  // All-gather over 4 nodes: 3 steps of 2 us + 5 us, once 7 us, 3/4 GB at 0.8 x 50 GB/s.
  const auto cluster = cluster_of(ClusterText{.nodes = 4}.text());
  const NetworkCosts costs{
      .scale_out_efficiency = 0.8, .scale_out_latency = 5_us, .scale_out_overhead = 7_us};
  EXPECT_DOUBLE_EQ(idle_seconds(*cluster, costs, CollectiveKind::all_gather,
                                CollectiveAlgorithm::ring, {first(4)}, 1_GB),
                   28e-6 + 0.75e9 / 40e9);
}

TEST(FlowPlans, EachMemberOfADomainFeedsARingOfItsOwn) {
  // 4 nodes of 4 accelerators: 4 rings of 1/4 of the bytes, 50 GB/s each, 200 GB/s together, less
  // than the 400 GB/s inside a node. 30 steps; around a ring 4 hops of 2 us and 12 of 0.5 us, so a
  // step takes 14/16 us.
  const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 4, .nics = 4}.text());
  EXPECT_DOUBLE_EQ(
      ring_all_reduce_seconds(*cluster, ideal_network_costs(cluster->node_type), 16_GB),
      30.0 * 14e-6 / 16.0 + 30e9 / 200e9);
}

TEST(FlowPlans, ASlowScaleUpFabricDecides) {
  // As above, with 100 GB/s inside a node.
  const auto cluster = cluster_of(
      ClusterText{.nodes = 4, .accelerators = 4, .nics = 4, .scale_up_bandwidth = "100 GB/s"}
          .text());
  EXPECT_DOUBLE_EQ(
      ring_all_reduce_seconds(*cluster, ideal_network_costs(cluster->node_type), 16_GB),
      30.0 * 14e-6 / 16.0 + 30e9 / 100e9);
}

TEST(FlowPlans, ACollectiveInsideADomainUsesNoLink) {
  // 8 accelerators: 14 steps of 0.5 us, 14/8 GB at 400 GB/s.
  const auto cluster = cluster_of(ClusterText{.nodes = 1, .accelerators = 8, .nics = 8}.text());
  EXPECT_DOUBLE_EQ(ring_all_reduce_seconds(*cluster, ideal_network_costs(cluster->node_type), 1_GB),
                   7e-6 + 1.75e9 / 400e9);
}

TEST(FlowPlans, GroupsThatRunAtOnceShareTheNics) {
  // Two groups of one accelerator of each node, all on the node's one NIC: half the rate each.
  const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 2}.text());
  const CollectiveGroups groups = {{0, 2, 4, 6}, {1, 3, 5, 7}};
  EXPECT_DOUBLE_EQ(
      idle_seconds(*cluster, ideal_network_costs(cluster->node_type),
                   CollectiveKind::reduce_scatter, CollectiveAlgorithm::ring, groups, 1_GB),
      3 * 2e-6 + 0.75e9 / 25e9);
}

TEST(FlowPlans, AllToAllUsesTheShareOfANicThatSoftwareReaches) {
  // 4 nodes: 3/4 GB out of each NIC at 80 % of 50 GB/s, 3 steps of 2 us.
  const auto cluster = cluster_of(ClusterText{.nodes = 4}.text());
  EXPECT_DOUBLE_EQ(idle_seconds(*cluster, {.scale_out_efficiency = 0.8}, CollectiveKind::all_to_all,
                                CollectiveAlgorithm::ring, {first(4)}, 1_GB),
                   2e-6 + 0.75e9 / 40e9);
}

TEST(FlowPlans, AllToAllOverDomainsKeepsItsPartInside) {
  // 2 nodes of 2 accelerators, a NIC each: a rank sends 1/4 to its neighbour and 2/4 across. 0.5 GB
  // at 50 GB/s decide over 0.25 GB at 400 GB/s. All messages are under way at once, for 2 us.
  const auto cluster = cluster_of(ClusterText{.nodes = 2, .accelerators = 2, .nics = 2}.text());
  EXPECT_DOUBLE_EQ(
      idle_seconds(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_to_all,
                   CollectiveAlgorithm::ring, {first(4)}, 1_GB),
      2e-6 + 0.5e9 / 50e9);
  // With 10 GB/s inside, 0.25 GB there take 25 ms.
  const auto slow = cluster_of(
      ClusterText{.nodes = 2, .accelerators = 2, .nics = 2, .scale_up_bandwidth = "10 GB/s"}
          .text());
  EXPECT_DOUBLE_EQ(
      idle_seconds(*slow, ideal_network_costs(slow->node_type), CollectiveKind::all_to_all,
                   CollectiveAlgorithm::ring, {first(4)}, 1_GB),
      2e-6 + 25e-3);
}

TEST(FlowPlans, AllToAllOnATorusLoadsTheLinksOfAllItsRoutes) {
  // Eight on a ring: 1, 2 and 3 links each way, and 4 links up from even and down from odd places,
  // 8 (2 + 4 + 6 + 4) = 128 over 16 links that are alike. Each rank sends 1/7 of the amount to each
  // other one, all of it 7/8 of a message of 1 GB: 8/8 GB over every link, in 20 ms at 50 GB/s; what
  // a NIC of 12.5 GB/s sends by both its links, 7/8 GB, takes longer. The
  // longest of the ways, which all are taken at once, crosses 4 links.
  const auto ring = cluster_of(topology_text(
      8, 1, R"({"kind": "torus", "dims": [8], "bandwidth": "50 GB/s", "hop_latency": "3 us"})"));
  const auto plan = [&](PlanDetail detail) {
    return collective_plan(*ring, {}, CollectiveKind::all_to_all, CollectiveAlgorithm::ring,
                           {first(8)}, detail);
  };
  const FlowPlan whole = plan(PlanDetail::fabric);
  ASSERT_EQ(whole.links.size(), 16U);
  for (const LinkLoad& load : whole.links) EXPECT_DOUBLE_EQ(load.weight, 8.0 / 7.0);
  EXPECT_DOUBLE_EQ(whole.latency.count(), 4 * 3e-6);
  EXPECT_DOUBLE_EQ(idle_seconds(*ring, {}, CollectiveKind::all_to_all, CollectiveAlgorithm::ring,
                                {first(8)}, 1_GB),
                   12e-6 + 7.0 / 8.0 * 1e9 / 12.5e9);
  const FlowPlan idle = plan(PlanDetail::idle_nic);
  EXPECT_TRUE(idle.links.empty());
  EXPECT_EQ(idle.latency, whole.latency);
}

TEST(FlowPlans, AllToAllsOfTooManyMessagesAreRefused) {
  const auto cluster = cluster_of(ClusterText{.nodes = 8}.text());
  const auto plan = [&](const CollectiveGroups& groups) {
    return collective_plan(*cluster, {}, CollectiveKind::all_to_all, CollectiveAlgorithm::ring,
                           groups);
  };
  const Limits before = limits();
  limits().messages = 24;  // two groups of four send 2 x 4 x 3, eight ranks 8 x 7
  EXPECT_NO_THROW(static_cast<void>(plan({{0, 1, 2, 3}, {4, 5, 6, 7}})));
  try {
    static_cast<void>(plan({first(8)}));
    ADD_FAILURE() << "planned";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "all-to-alls that run at once send more than 24 messages, which are followed one by "
              "one to the links they load");
    EXPECT_EQ(error.diagnostics().front().help,
              "let fewer ranks, or more and smaller groups, exchange with each other; --limit "
              "messages=NUMBER allows more");
  }
  limits() = before;
}

TEST(FlowPlans, ManyLoadsAddUpLikeFew) {
  // 1,100 ranks on a switch send more messages than are listed one by one: 1,099/1,099 of the
  // amount by each link both ways, and nothing by those of a hundred others.
  const auto cluster = cluster_of(ClusterText{.nodes = 1200}.text());
  std::vector<std::int32_t> last = first(1200);
  last.erase(last.begin(), last.begin() + 100);
  const FlowPlan plan =
      collective_plan(*cluster, {}, CollectiveKind::all_to_all, CollectiveAlgorithm::ring, {last});
  ASSERT_EQ(plan.links.size(), 2200U);
  for (const LinkLoad& load : plan.links) EXPECT_NEAR(load.weight, 1.0, 1e-12);
  EXPECT_NEAR(plan.nic_rate / 50_GBps, 1.0, 1e-12);
}

TEST(FlowPlans, ATreeReachesTheShareOfANicThatSoftwareReaches) {
  // 4 nodes: 2 messages out of the busiest NIC at 80 % of 50 GB/s; 2 x 2 steps of 2 us.
  const auto cluster = cluster_of(ClusterText{.nodes = 4}.text());
  EXPECT_DOUBLE_EQ(idle_seconds(*cluster, {.scale_out_efficiency = 0.8}, CollectiveKind::all_reduce,
                                CollectiveAlgorithm::tree, {first(4)}, 1_GB),
                   8e-6 + 2e9 / 40e9);
}

TEST(FlowPlans, ATreeOverDomainsGoesDownAChainInEach) {
  // 4 nodes of 2: trees of depth 2 with 2 us a hop, chains of one step of 0.5 us, up and down. Two
  // rails carry half of the 2 GB each.
  const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 2, .nics = 2}.text());
  EXPECT_DOUBLE_EQ(
      idle_seconds(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_reduce,
                   CollectiveAlgorithm::tree, {first(8)}, 1_GB),
      2 * (2 * 2e-6 + 0.5e-6) + 2e9 / 100e9);
}

TEST(FlowPlans, OneRankSendsNothing) {
  const auto cluster = cluster_of(ClusterText{}.text());
  const FlowPlan plan =
      collective_plan(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_reduce,
                      CollectiveAlgorithm::ring, {{0}});
  EXPECT_TRUE(plan.links.empty());
  EXPECT_EQ(idle_time(plan, cluster->topology, 1_GB), Seconds(0.0));
}

TEST(FlowPlans, ABugInTheCallerIsReported) {
  const auto cluster = cluster_of(ClusterText{}.text());
  const NetworkCosts costs = ideal_network_costs(cluster->node_type);
  const std::vector<std::int32_t> one = {0};
  const std::vector<std::int32_t> two = {0, 1};
  EXPECT_THROW(static_cast<void>(transfer_plan(*cluster, costs, one, two)), InternalError);
  EXPECT_THROW(static_cast<void>(collective_plan(*cluster, costs, CollectiveKind::broadcast,
                                                 CollectiveAlgorithm::ring, {})),
               InternalError);
  EXPECT_THROW(static_cast<void>(collective_plan(*cluster, costs, CollectiveKind::broadcast,
                                                 CollectiveAlgorithm::tree, {two})),
               InternalError);
}

TEST(FlowPlans, SwitchesThatAddSendTheSumOnceOverEachCable) {
  // Two leaves of two nodes and one cable from each to the spine: four cables to nodes and two up,
  // each carrying the message once up and once down, in 1 GB / 12.5 GB/s. A ring of four sends 1.5
  // GB over each of them.
  const auto cluster = cluster_of(topology_text(
      4, 1,
      R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "leaf": {"uplinks": 1},
          "spine": {}})"));
  const NetworkCosts costs;
  const FlowPlan plan = collective_plan(*cluster, costs, CollectiveKind::all_reduce,
                                        CollectiveAlgorithm::in_network, {first(4)});
  ASSERT_EQ(plan.links.size(), 12U);
  for (const LinkLoad& load : plan.links) EXPECT_DOUBLE_EQ(load.weight, 1.0);
  // Cables of 10 and 150 ns and switches of 200: up over two cables and down again.
  EXPECT_NEAR(plan.latency.count(), 2 * 10e-9 + 2 * 150e-9 + 3 * 200e-9, 1e-15);
  EXPECT_NEAR(idle_time(plan, cluster->topology, 1_GB).count(), 80e-3 + 920e-9, 1e-12);
}

TEST(FlowPlans, RailsThatAddTakePartsOfTheMessage) {
  // Two nodes of two: each NIC has half of the message. Inside, a ring of two sends it once.
  const auto cluster = cluster_of(topology_text(2, 2, R"({"kind": "single_switch"})"));
  const FlowPlan plan =
      collective_plan(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_reduce,
                      CollectiveAlgorithm::in_network, {first(4)});
  ASSERT_EQ(plan.links.size(), 8U);
  for (const LinkLoad& load : plan.links) EXPECT_DOUBLE_EQ(load.weight, 0.5);
  EXPECT_EQ(plan.rate_cap, 100_GBps);
}

TEST(FlowPlans, WhereRailsAreApartNodesHandOnToThem) {
  // Two nodes of two. An all-to-all sends a third of each message to each other rank. Rail 0 of
  // node 0 carries what ranks 0 and 1 have for rank 2: 2/3, and so do all others.
  const auto cluster = cluster_of(topology_text(2, 2, R"({"kind": "rail_only"})"));
  const NetworkCosts costs = ideal_network_costs(cluster->node_type);
  const FlowPlan plan = collective_plan(*cluster, costs, CollectiveKind::all_to_all,
                                        CollectiveAlgorithm::ring, {first(4)});
  ASSERT_EQ(plan.links.size(), 8U);
  for (const LinkLoad& load : plan.links) EXPECT_NEAR(load.weight, 2.0 / 3.0, 1e-12);
  // The same on one switch loads each NIC the same, but nobody hands on.
  const auto flat = cluster_of(topology_text(2, 2, R"({"kind": "single_switch"})"));
  const FlowPlan direct = collective_plan(*flat, costs, CollectiveKind::all_to_all,
                                          CollectiveAlgorithm::ring, {first(4)});
  EXPECT_LT(direct.latency, plan.latency);
}

TEST(FlowPlans, LinksBetweenSwitchesFillToTheEfficiencyOfTheRouting) {
  // One node on each of two leaves under four spines: 1/4 of the flow on each of 4 ways, which
  // flows fill to 80 %: 8 links of weight (1/4) / 0.8.
  const auto cluster = cluster_of(topology_text(
      2, 1,
      R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 1, "leaf": {"uplinks": 4},
          "spine": {}})",
      R"(, "routing": {"kind": "adaptive", "efficiency": 0.8})"));
  const std::vector<std::int32_t> from = {0};
  const std::vector<std::int32_t> to = {1};
  const FlowPlan plan = transfer_plan(*cluster, ideal_network_costs(cluster->node_type), from, to);
  ASSERT_EQ(plan.links.size(), 10U);
  for (const LinkLoad& load : plan.links) {
    const Link& link = cluster->topology.link(load.link);
    const bool is_inner =
        cluster->topology.is_switch(link.from) && cluster->topology.is_switch(link.to);
    EXPECT_DOUBLE_EQ(load.weight, is_inner ? 0.3125 : 1.0);
  }
}

TEST(FlowPlans, WhatARootGathersPassesItsNicAlone) {
  // Two nodes of four accelerators with a NIC of 12.5 GB/s each: of 8 GB the root gets a gigabyte
  // from each of the other node by one NIC, 4 GB in 0.32 s, and three from its own beside that.
  const auto cluster = cluster_of(topology_text(2, 4, R"({"kind": "single_switch"})"));
  const NetworkCosts costs;
  for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::scatter}) {
    const FlowPlan plan = collective_plan(*cluster, costs, kind, CollectiveAlgorithm::ring,
                                          {{0, 1, 2, 3, 4, 5, 6, 7}});
    const Seconds time = idle_time(plan, cluster->topology, 7_GB) - plan.latency;
    EXPECT_NEAR(time.count(), 0.32, 1e-9);
  }
  // A reduce is a chain: the message passes every link once.
  const FlowPlan reduce =
      collective_plan(*cluster, costs, CollectiveKind::reduce, CollectiveAlgorithm::ring, {{0, 4}});
  EXPECT_NEAR((idle_time(reduce, cluster->topology, 8_GB) - reduce.latency).count(), 0.64, 1e-9);
}

}  // namespace
}  // namespace headway
