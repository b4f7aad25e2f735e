#include "sim/programs/stage_costs/group_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "sim/jobs/strategy.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/stage_costs/group_link.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

using testing::ElementsAre;

std::shared_ptr<const Cluster> domains_of(int accelerators, int count) {
  return cluster_of(
      ClusterText{.nodes = count, .accelerators = accelerators, .nics = accelerators}.text());
}

TEST(GroupPlace, CountsTheMembersOfEachDomain) {
  const auto cluster = domains_of(4, 4);
  const auto members_at = [&](std::vector<std::int32_t> accelerators) {
    return place_of_group(*cluster, accelerators).members;
  };
  EXPECT_THAT(members_at({0, 1, 2, 3}), ElementsAre(4));
  EXPECT_THAT(members_at({3, 4, 5, 6}), ElementsAre(3, 1));
  EXPECT_THAT(members_at({0, 4, 8, 12}), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(members_at({12, 0, 1, 13, 14}), ElementsAre(3, 2));
}

TEST(GroupPlace, TheFewestMembersOfADomainAreWhatIsSlow) {
  const GroupPlace inside{.members = {8}};
  const GroupPlace even{.members = {4, 4}};
  const GroupPlace uneven{.members = {6, 2}};
  const GroupPlace scattered{.members = {2, 2, 2, 2}};
  EXPECT_TRUE(is_slower_place(even, inside));
  EXPECT_TRUE(is_slower_place(uneven, even));
  EXPECT_TRUE(is_slower_place(scattered, uneven));
  EXPECT_FALSE(is_slower_place(inside, scattered));
  EXPECT_FALSE(is_slower_place(even, even));
}

TEST(BestPlaces, FillAsFewDomainsAsCanBe) {
  const auto cluster = domains_of(8, 16);
  const Strategy strategy{.tensor_parallel = 12,
                          .context_parallel = 2,
                          .expert_parallel = 20,
                          .expert_tensor_parallel = 2};
  const ExchangePlaces places = best_places(strategy, *cluster, Placement{}.order);
  EXPECT_THAT(places[ExchangeKind::tensor].members, ElementsAre(6, 6));
  // The other rank of a pair stands 12 further on.
  EXPECT_THAT(places[ExchangeKind::context].members, ElementsAre(1, 1));
  // Every second rank of a domain holds other experts: five domains of four.
  EXPECT_THAT(places[ExchangeKind::experts].members, ElementsAre(4, 4, 4, 4, 4));
  EXPECT_THAT(places[ExchangeKind::expert_slices].members, ElementsAre(2));
}

TEST(BestPlaces, FollowTheOrderOfRanks) {
  const auto cluster = domains_of(8, 4);
  const Strategy strategy{.tensor_parallel = 8, .pipeline_parallel = 4};
  const std::vector<ParallelDimension> order = {
      ParallelDimension::pipeline, ParallelDimension::tensor, ParallelDimension::context,
      ParallelDimension::data};
  // Tensor-parallel ranks stand four apart: two in a domain.
  EXPECT_THAT(best_places(strategy, *cluster, order)[ExchangeKind::tensor].members,
              ElementsAre(2, 2, 2, 2));
}

/// The classes of a stage's replicas, in order.
struct LaidOut {
  LaidOut(const Strategy& asked, int accelerators, int domains, Model of = {})
      : model(std::move(of)),
        strategy(asked),
        cluster(domains_of(accelerators, domains)),
        placement{.tensor = strategy.tensor_parallel,
                  .context = strategy.context_parallel,
                  .data = strategy.data_parallel,
                  .pipeline = strategy.pipeline_parallel},
        layout(model, strategy, *cluster, placement) {}

  [[nodiscard]] std::vector<int> members(ExchangeKind kind, int replica, int stage = 0) const {
    return layout.classes()[layout.class_of(replica, stage)].places[kind].members;
  }

  Model model;
  Strategy strategy;
  std::shared_ptr<const Cluster> cluster;
  Placement placement;
  ExchangeLayout layout;
};

TEST(ExchangeLayout, GroupsStandWhereTheirRanksDo) {
  // Sixteen ranks in a row on racks of 72: 0 .. 63 stand in the first, 64 .. 79 in both.
  const LaidOut tensor({.tensor_parallel = 16, .data_parallel = 9}, 72, 2);
  EXPECT_THAT(tensor.members(ExchangeKind::tensor, 3), ElementsAre(16));
  EXPECT_THAT(tensor.members(ExchangeKind::tensor, 4), ElementsAre(8, 8));
  EXPECT_THAT(tensor.members(ExchangeKind::tensor, 5), ElementsAre(16));
  // One that straddles, one that does not.
  EXPECT_EQ(tensor.layout.classes().size(), 2U);
  EXPECT_THAT(tensor.layout.distinct_replicas(), ElementsAre(0, 4));
}

TEST(ExchangeLayout, ExpertGroupsThatStraddleRacksOf72) {
  const auto second = [](int experts, int replica) {
    return LaidOut({.data_parallel = 128, .expert_parallel = experts}, 72, 2)
        .members(ExchangeKind::experts, replica);
  };
  EXPECT_THAT(second(16, 64), ElementsAre(8, 8));
  EXPECT_THAT(second(32, 64), ElementsAre(24, 8));
  EXPECT_THAT(second(64, 64), ElementsAre(56, 8));
  EXPECT_THAT(second(64, 0), ElementsAre(64));
  EXPECT_THAT(second(128, 0), ElementsAre(72, 56));
}

TEST(ExchangeLayout, ReplicasThatShareOutExpertsStandAsTheirGroupDoes) {
  // Eight experts' ranks are two replicas of four: both wait for whoever is across.
  const LaidOut experts({.tensor_parallel = 4, .data_parallel = 4, .expert_parallel = 8}, 4, 4);
  EXPECT_THAT(experts.members(ExchangeKind::experts, 0), ElementsAre(4, 4));
  EXPECT_THAT(experts.members(ExchangeKind::tensor, 0), ElementsAre(4));
  EXPECT_THAT(experts.layout.distinct_replicas(), ElementsAre(0));
}

TEST(ExchangeLayout, TablesAreSharedOutByAllReplicas) {
  Model bags;
  append_layers(bags, Layer{.tables = {{1000.0, 4.0}}});
  Strategy strategy{.data_parallel = 8};
  strategy.tables.placement = TablePlacement::table;
  EXPECT_THAT(LaidOut(strategy, 4, 2, bags).members(ExchangeKind::tables, 0), ElementsAre(4, 4));
  // Nothing is exchanged of those that every rank has, nor where there are none.
  EXPECT_THAT(LaidOut(strategy, 4, 2).members(ExchangeKind::tables, 0), ElementsAre(1));
  strategy.tables.placement = TablePlacement::replicated;
  EXPECT_THAT(LaidOut(strategy, 4, 2, bags).members(ExchangeKind::tables, 0), ElementsAre(1));
}

TEST(GroupLink, IsAsItWasMeasuredOnSuchLinks) {
  const auto cluster = domains_of(8, 2);
  Profile profile = round_profile();
  profile.scale_up.collectives.resize(1);
  profile.scale_out.collectives.resize(2);
  const NodeType& node = cluster->node_type;
  const GroupLink inside = group_link(node, profile, {.members = {8}}, 1.0);
  const GroupLink across = group_link(node, profile, {.members = {4, 4}}, 1.0);
  ASSERT_NE(inside.measured, nullptr);
  ASSERT_NE(across.measured, nullptr);
  EXPECT_EQ(inside.measured->size(), 1U);
  EXPECT_EQ(across.measured->size(), 2U);
  EXPECT_EQ(across.wire, node.nic_bandwidth);
  EXPECT_GT(inside.wire, node.scale_up_bandwidth);
}

TEST(GroupLink, HasTheNicsOfTheMembersThatEveryDomainHas) {
  const auto cluster = cluster_of(ClusterText{.nodes = 2, .accelerators = 8, .nics = 4}.text());
  EXPECT_DOUBLE_EQ(nics_of_rank(cluster->node_type), 0.5);
  EXPECT_DOUBLE_EQ(nics_of_rings(cluster->node_type, {.members = {8, 6}}), 3.0);
  EXPECT_DOUBLE_EQ(nics_of_rings(cluster->node_type, {.members = {8, 1}}), 1.0);
}

}  // namespace
}  // namespace headway
