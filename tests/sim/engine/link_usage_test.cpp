#include "sim/engine/link_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "hand_workload.h"
#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/random_numbers.h"

namespace headway {
namespace {

using testing::ElementsAre;

TEST(LinkUsage, EqualLinksAreOneAsNarrowAsTheNarrowest) {
  // Links 0 and 3 carry plan 0 alone, links 2 and 5 plan 1 alone, link 1 both.
  Topology topology = star({0_s, 0_s, 0_s});
  topology.link(3).capacity = 10_GBps;
  const std::vector<FlowPlan> plans = {{.links = {{0, 1.0}, {3, 1.0}, {1, 1.0}}},
                                       {.links = {{1, 1.0}, {2, 1.0}, {5, 1.0}}}};
  const LinkUsage usage = link_usage(plans, topology, true, 1.0);
  // Whatever binds on link 2 binds on link 1 already.
  EXPECT_THAT(usage.kept, ElementsAre(0, 1));
  EXPECT_THAT(usage.capacities, ElementsAre(10e9, 50e9));
  ASSERT_EQ(usage.plans[0].size(), 2U);
  EXPECT_EQ(usage.plans[0][0].link, 0);
  EXPECT_EQ(usage.plans[0][1].link, 1);
  ASSERT_EQ(usage.plans[1].size(), 1U);
  EXPECT_EQ(usage.plans[1][0].link, 1);
}

TEST(LinkUsage, ALinkIsImpliedByOneOfWhichAllTakeMore) {
  Topology topology = star({0_s, 0_s, 0_s});
  const auto kept = [&](std::vector<FlowPlan> plans, const std::set<LinkId>& apart = {}) {
    return link_usage(plans, topology, true, 1.0, apart).kept;
  };
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 2.0}}}}), ElementsAre(3));
  // Twice the weight of twice the capacity is the same share, and the first of equals stays.
  topology.link(3).capacity = 100_GBps;
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 2.0}}}}), ElementsAre(0));
  // Plan 1 takes less of link 3 than of link 0, plan 0 more.
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 3.0}}}, {.links = {{0, 1.0}, {3, 1.0}}}}),
              ElementsAre(0, 3));
  // A plan of its own keeps a link; so does a capacity that changes, which implies nothing either.
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 1.0}}}, {.links = {{3, 9.0}}}}), ElementsAre(0, 3));
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 1.0}}}}, {3}), ElementsAre(0, 3));
  EXPECT_THAT(kept({{.links = {{0, 1.0}, {3, 1.0}}}}, {0}), ElementsAre(0, 3));
}

TEST(LinkUsage, APortIsALinkBehindThoseOfTheTopology) {
  // Links 0 to 5 are the star's; port 2 is link 8. The second plan goes through the port at half
  // the first one's rate: a byte of it takes twice as long there.
  const Topology topology = star({0_s, 0_s, 0_s});
  std::vector<FlowPlan> plans = {{.port_rate = 100_GBps, .ports = {2}},
                                 {.port_rate = 50_GBps, .ports = {2}}};
  const LinkUsage usage = link_usage(plans, topology, true, 1.0);
  EXPECT_THAT(usage.kept, ElementsAre(8));
  EXPECT_THAT(usage.capacities, ElementsAre(100e9));
  ASSERT_EQ(usage.plans[0].size(), 1U);
  EXPECT_EQ(usage.plans[0][0].weight, 1.0);
  ASSERT_EQ(usage.plans[1].size(), 1U);
  EXPECT_EQ(usage.plans[1][0].weight, 2.0);
  // Both take more of a NIC of 50 GB/s than of the port: that binds first.
  plans[0].links = {{0, 1.0}};
  plans[1].links = {{0, 2.0}};
  EXPECT_THAT(link_usage(plans, topology, true, 1.0).kept, ElementsAre(0));
}

TEST(LinkUsage, UnfoldedEveryLinkStandsForItself) {
  const Topology topology = star({0_s, 0_s, 0_s});
  const std::vector<FlowPlan> plans = {{.links = {{5, 1.0}, {0, 1.0}}}};
  EXPECT_THAT(link_usage(plans, topology, false, 1.0).kept, ElementsAre(0, 5));
}

TEST(LinkUsage, ALinkThatAPlanNamesTwiceCountsTwice) {
  const Topology topology = star({0_s, 0_s});
  const std::vector<FlowPlan> plans = {{.links = {{0, 1.0}, {3, 1.0}, {0, 1.0}}}};
  const LinkUsage usage = link_usage(plans, topology, false, 1.0);
  ASSERT_EQ(usage.plans[0].size(), 2U);
  EXPECT_EQ(usage.plans[0][0].weight, 2.0);
  EXPECT_EQ(usage.plans[0][1].weight, 1.0);
}

TEST(LinkUsage, WeightsAreWholeNumbersOfTheLargestCommonPart) {
  // 1/2 and 1/3 are 3 and 2 sixths; 3/8 and 1/8 are 3 and 1 eighths.
  const Topology topology = star({0_s, 0_s});
  const std::vector<FlowPlan> plans = {{.links = {{0, 1.0 / 2}, {3, 1.0 / 3}}},
                                       {.links = {{0, 3.0 / 8}, {3, 1.0 / 8}}}};
  const LinkUsage usage = link_usage(plans, topology, false, 1.0);
  EXPECT_DOUBLE_EQ(usage.units[0], 1.0 / 6);
  EXPECT_EQ(usage.plans[0][0].weight, 3.0);
  EXPECT_EQ(usage.plans[0][1].weight, 2.0);
  EXPECT_DOUBLE_EQ(usage.units[1], 1.0 / 8);
  EXPECT_EQ(usage.plans[1][0].weight, 3.0);
  EXPECT_EQ(usage.plans[1][1].weight, 1.0);
}

TEST(LinkUsage, ALinkWithoutCapacityIsABug) {
  Topology topology = star({0_s, 0_s});
  topology.link(0).capacity = BytesPerSecond(0.0);
  const std::vector<FlowPlan> plans = {{.links = {{0, 1.0}}}};
  EXPECT_THROW(static_cast<void>(link_usage(plans, topology, true, 1.0)), InternalError);
}

TEST(LinkUsage, EightRailsFoldIntoOne) {
  // A ring of 4 nodes whose 8 members each have a rail of their own: on every rail the same links
  // carry the same flow, so one link is left of 8 rails x 4 nodes x 2 directions.
  const auto cluster = cluster_of(topology_text(
      4, 8,
      R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units": 1, "leaf": {}, "spine": {}})"));
  std::vector<std::int32_t> members(32);
  std::iota(members.begin(), members.end(), 0);
  const std::vector<FlowPlan> plans = {
      collective_plan(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_reduce,
                      CollectiveAlgorithm::ring, {members})};
  EXPECT_EQ(plans[0].links.size(), 64U);
  EXPECT_EQ(link_usage(plans, cluster->topology, false, 1.0).kept.size(), 64U);
  const LinkUsage folded = link_usage(plans, cluster->topology, true, 1.0);
  EXPECT_EQ(folded.kept.size(), 1U);
  EXPECT_EQ(folded.capacities[0], 12.5e9);
}

/// The rates of random plans are the same over all links and over those that are kept, whoever else
/// is active.
TEST(LinkUsage, WhatIsLeftOutChangesNoRate) {
  std::size_t left_out = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomNumbers random(seed);
    Topology topology = star(std::vector<Seconds>(6, 0_s));
    for (LinkId link = 0; link < topology.link_count(); ++link) {
      topology.link(link).capacity = BytesPerSecond(1e9 * (1 + random.below(4)));
    }
    std::vector<FlowPlan> plans(5);
    for (FlowPlan& plan : plans) {
      for (LinkId link = 0; link < topology.link_count(); ++link) {
        if (random.chance(0.4)) plan.links.push_back({link, 0.25 * (1 + random.below(2))});
      }
      if (plan.links.empty()) plan.links.push_back({0, 1.0});
    }
    const LinkUsage whole = link_usage(plans, topology, false, 1.0);
    const LinkUsage folded = link_usage(plans, topology, true, 1.0);
    left_out += whole.kept.size() - folded.kept.size();
    MaxMinShares whole_shares(whole.capacities);
    MaxMinShares folded_shares(folded.capacities);
    std::vector<std::int32_t> handles(plans.size(), -1);
    for (int step = 0; step < 20; ++step) {
      const auto plan = static_cast<std::size_t>(random.below(5));
      if (handles[plan] < 0) {
        const double cap = random.chance(0.5) ? 0.5e9 * random.below(8) + 1e8
                                              : std::numeric_limits<double>::infinity();
        handles[plan] = whole_shares.add(whole.plans[plan], cap);
        ASSERT_EQ(folded_shares.add(folded.plans[plan], cap), handles[plan]);
      } else {
        whole_shares.remove(handles[plan]);
        folded_shares.remove(handles[plan]);
        handles[plan] = -1;
      }
      whole_shares.settle();
      folded_shares.settle();
      for (const std::int32_t handle : handles) {
        if (handle < 0) continue;
        ASSERT_NEAR(folded_shares.rate(handle), whole_shares.rate(handle),
                    1e-12 * whole_shares.rate(handle));
      }
    }
  }
  EXPECT_GT(left_out, 300U);
}

}  // namespace
}  // namespace headway
