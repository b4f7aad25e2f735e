#include "sim/programs/flows/collective_price.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// Two nodes of four accelerators at 400 GB/s, a NIC of 50 GB/s each.
const ClusterText kNodes{.nodes = 2, .accelerators = 4, .nics = 4};
const CollectiveGroups kOneNode = {{0, 1, 2, 3}};
const CollectiveGroups kBothNodes = {{0, 1, 2, 3, 4, 5, 6, 7}};

PricedCollective priced(const Cluster& cluster, const Profile& profile,
                        const CollectiveGroups& groups,
                        std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
  return {cluster,
          {.library = CollectiveLibrary::profile, .profile = &profile},
          CollectiveKind::all_reduce,
          groups,
          algorithm};
}

Profile measured_profile() {
  Profile profile = round_profile();
  profile.scale_up.collectives = {
      {.kind = CollectiveKind::all_reduce,
       .ranks = 4,
       .curve = {.points = {{1_MB, 20_us}, {2_MB, 30_us}}, .spread = 0.0, .source = "test"}}};
  return profile;
}

TEST(CollectivePrice, WhatWasMeasuredComesFirst) {
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = measured_profile();
  const PricedCollective prices = priced(*cluster, profile, kOneNode);
  const CollectivePrice price = prices.price(1.5_MB);
  EXPECT_DOUBLE_EQ(price.time.count(), 25e-6);  // half way between the points
  const FlowPlan& plan = prices.ways()[price.way].plan;
  EXPECT_NEAR(idle_time(plan, cluster->topology, price.amount) / price.time, 1.0, 1e-12);
}

TEST(CollectivePrice, BothNicsComeOnTopOfWhatWasPublishedOfAStep) {
  // Two NICs of 3 us pass each message. What was measured was measured with them.
  const auto cluster = cluster_of(kNodes.text());
  NodeType node = cluster->node_type;
  node.nic_latency = 3_us;
  Profile profile = round_profile();
  profile.scale_out.latency.value = 4e-6;
  profile.kind = "published";
  EXPECT_DOUBLE_EQ(network_costs(profile, node).scale_out_latency.count(), 10e-6);
  profile.kind = "measured";
  EXPECT_DOUBLE_EQ(network_costs(profile, node).scale_out_latency.count(), 4e-6);
}

// Of a NIC of 5 GB/s a connection of 0.5 lets a tenth through; an exchange of everybody with
// everybody keeps two busy. What encrypts 0.4 GB/s is narrower than either, and comes 7 us later.
TEST(CollectivePrice, IsOfWhatAConnectionAndEncryptionLetThrough) {
  Profile profile = round_profile();
  profile.kind = "published";
  NodeType node;
  node.nic_bandwidth = 5_GBps;
  node.transport.costs.connection = 0.5_GBps;
  const auto share = [&](CollectiveKind kind) {
    return network_costs(profile, node, kind).scale_out_efficiency;
  };
  EXPECT_DOUBLE_EQ(share(CollectiveKind::send_receive), 0.1);
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_reduce), 0.1);
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_to_all), 0.2);
  const Seconds clear = network_costs(profile, node).scale_out_latency;
  node.transport.costs.encryption = 0.4_GBps;
  node.transport.costs.encryption_latency = 7_us;
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_reduce), 0.08);
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_to_all), 0.08);
  EXPECT_DOUBLE_EQ((network_costs(profile, node).scale_out_latency - clear).count(), 7e-6);
}

TEST(CollectivePrice, AMeasuredMessageTakesItsTimeBetweenStages) {
  // 1 MB from node to node in 40 us, twice what the NIC takes at 50 GB/s, and its latency besides.
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.scale_out.collectives = {
      {.kind = CollectiveKind::send_receive,
       .ranks = 2,
       .curve = {.points = {{1_MB, 40_us}, {2_MB, 41_us}}, .spread = 0.0, .source = "test"}}};
  const PriceEvidence evidence{.library = CollectiveLibrary::profile, .profile = &profile};
  const std::vector<std::int32_t> here = {0};
  const std::vector<std::int32_t> there = {4};
  const auto transfer = [&](Bytes message) {
    FlowPlan plan =
        transfer_plan(*cluster, network_costs(profile, cluster->node_type), here, there);
    take_measured_time(plan, *cluster, evidence, message);
    return plan;
  };
  const FlowPlan plan = transfer(1_MB);
  EXPECT_NEAR(idle_time(plan, cluster->topology, 1_MB).count(), 40e-6, 1e-15);
  EXPECT_DOUBLE_EQ(plan.links.front().weight, 2.0);
  // 2 MB are 40 us at the NIC's rate, which nothing measured makes faster.
  EXPECT_NEAR(idle_time(transfer(2_MB), cluster->topology, 2_MB).count(), 41e-6, 1e-15);
  profile.scale_out.collectives.front().curve.points = {{1_MB, 10_us}};
  EXPECT_NEAR(idle_time(transfer(1_MB), cluster->topology, 1_MB).count(), 20e-6, 1e-15);
  // Of that size nothing was measured: two hops of 2 us before the first byte.
  EXPECT_NEAR(idle_time(transfer(4_MB), cluster->topology, 4_MB).count(), 82e-6, 1e-12);
}

TEST(CollectivePrice, AMeasuredMessageTakesItsTimeInsideANode) {
  // 1 MB in 10 us, where 400 GB/s would take 2.5 us.
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.scale_up.collectives = {
      {.kind = CollectiveKind::send_receive,
       .ranks = 2,
       .curve = {.points = {{1_MB, 10_us}}, .spread = 0.0, .source = "test"}}};
  const std::vector<std::int32_t> here = {0};
  const std::vector<std::int32_t> there = {1};
  FlowPlan plan = transfer_plan(*cluster, network_costs(profile, cluster->node_type), here, there);
  take_measured_time(plan, *cluster, {.library = CollectiveLibrary::profile, .profile = &profile},
                     1_MB);
  EXPECT_NEAR(idle_time(plan, cluster->topology, 1_MB).count(), 10e-6, 1e-15);
}

TEST(CollectivePrice, OutsideOfWhatWasMeasuredTheClosedFormAnswers) {
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = measured_profile();
  // A ring of 4: 6 steps, the profile's without latency, and 1.5 x 4 MB at 400 GB/s: 15 us.
  EXPECT_NEAR(priced(*cluster, profile, kOneNode).price(4_MB).time.count(), 15e-6, 1e-15);
  // Over both nodes nothing was measured. A ring takes 14/8 of 2 MB over four NICs at 50 GB/s and
  // 14/8 x 2 hops of 2 us: 24.5 us. Two trees, each with half of the message up and down between
  // two nodes, load a NIC with an eighth of their flow: 4 MB at 400 GB/s inside and two hops, 14
  // us.
  EXPECT_NEAR(priced(*cluster, profile, kBothNodes).price(2_MB).time.count(), 14e-6, 1e-12);
  EXPECT_NEAR(
      priced(*cluster, profile, kBothNodes, CollectiveAlgorithm::ring).price(2_MB).time.count(),
      24.5e-6, 1e-12);
}

TEST(CollectivePrice, AChainBetweenNodesHandsOnChunks) {
  // 40 MB over four NICs of 50 GB/s: 200 us, and 7/8 of two hops of 2 us. Four channels hand on
  // 512 KiB at a time, once between nodes at 200 GB/s and six times inside at 400 GB/s: 20 ps a
  // byte, 41.943 us.
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = round_profile();
  const auto of = [&](CollectiveLibrary library, const CollectiveGroups& groups) {
    return PricedCollective(*cluster, {.library = library, .profile = &profile},
                            CollectiveKind::broadcast, groups);
  };
  const PricedCollective prices = of(CollectiveLibrary::profile, kBothNodes);
  constexpr double kHandedOn = 4.0 * 524288.0 * 20e-12;
  EXPECT_NEAR(prices.price(40_MB).time.count(), 203.5e-6 + kHandedOn, 1e-12);
  EXPECT_NEAR(prices.price(40_MB).at_least.count(), 200e-6 + kHandedOn, 1e-12);
  // A message that is less than these chunks is one.
  EXPECT_NEAR(prices.price(1_MB).time.count(), 5e-6 + 3.5e-6 + 20e-6, 1e-12);
  // Inside a node, and of links alone, nothing is added.
  EXPECT_NEAR(of(CollectiveLibrary::profile, kOneNode).price(40_MB).time.count(), 100e-6, 1e-12);
  EXPECT_NEAR(of(CollectiveLibrary::hardware, kBothNodes).price(40_MB).at_least.count(), 0.0, 0.0);
}

TEST(CollectivePrice, BroadcastsFromNextRanksFollowEachOtherAroundTheRing) {
  // Three of 40 MB. Of four roots in a row one stands on the next node, where its broadcast follows
  // the one before; the others wait until that has come to the end of the ring.
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = round_profile();
  const PricedCollective prices(*cluster,
                                {.library = CollectiveLibrary::profile, .profile = &profile},
                                CollectiveKind::broadcast, kBothNodes);
  const CollectivePrice price = prices.price(120_MB, 3.0);
  const double waiting = 3.5e-6 + 4.0 * 524288.0 * 20e-12;
  EXPECT_NEAR(price.time.count(), 3.0 * 200e-6 + (1.0 + 2.0 * 0.75) * waiting, 1e-12);
  EXPECT_NEAR((price.time - price.at_least).count(), 3.5e-6, 1e-15);
  EXPECT_DOUBLE_EQ(price.amount.count(), 120e6);
  EXPECT_EQ(prices.price(120_MB, 0.5).time, prices.price(120_MB).time);
  // Three of 1 MB, less than the chunks of all channels, are handed on whole: 5 us each, and 3.5
  // and 20 us of waiting.
  EXPECT_NEAR(prices.price(3_MB, 3.0).time.count(), 3.0 * 5e-6 + (1.0 + 2.0 * 0.75) * 23.5e-6,
              1e-12);
}

TEST(CollectivePrice, WhatIsScatteredAndWhatIsGatheredMirrorEachOther) {
  // Seven steps around eight ranks, two of them between nodes, 7/8 x 2 hops of 2 us; 7/8 of 4 MB
  // over four NICs at 50 GB/s: 17.5 us.
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = round_profile();
  const auto of = [&](CollectiveKind kind) {
    return PricedCollective(*cluster, {.library = CollectiveLibrary::profile, .profile = &profile},
                            kind, kBothNodes);
  };
  const PricedCollective scatter = of(CollectiveKind::reduce_scatter);
  const PricedCollective gather = of(CollectiveKind::all_gather);
  EXPECT_NEAR(gather.price(4_MB).time.count(), 21e-6, 1e-12);
  EXPECT_EQ(scatter.mirrored().price(4_MB).time, gather.price(4_MB).time);
  EXPECT_EQ(gather.mirrored().price(4_MB).amount, scatter.price(4_MB).amount);
}

TEST(CollectivePrice, SumsOneBehindTheOtherWaitForEachOther) {
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = round_profile();
  const PricedCollective prices = priced(*cluster, profile, kBothNodes);
  const CollectivePrice each = prices.price(1_MB);
  const CollectivePrice five = prices.price(5_MB, 5.0);
  EXPECT_NEAR(five.time / each.time, 5.0, 1e-12);
  EXPECT_NEAR(five.amount / each.amount, 5.0, 1e-12);
}

TEST(CollectivePrice, AnAlgorithmThatIsAskedForIsNotTheOneMeasured) {
  const auto cluster = cluster_of(kNodes.text());
  const Profile profile = measured_profile();
  const PricedCollective prices = priced(*cluster, profile, kOneNode, CollectiveAlgorithm::ring);
  EXPECT_NEAR(prices.price(1_MB).time.count(), 1.5 * 1e6 / 400e9, 1e-15);
}

/// What hardware alone chooses from.
std::vector<std::string_view> ways_of(const Cluster& cluster, const CollectiveGroups& groups,
                                      std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
  const PricedCollective prices(cluster, {}, CollectiveKind::all_reduce, groups, algorithm);
  std::vector<std::string_view> names;
  for (const auto& way : prices.ways()) names.push_back(way.algorithm.name);
  return names;
}

TEST(CollectivePrice, RanksThatFillRingsOfATorusUseThem) {
  // 4 x 4 places, numbered along the second dimension; of the mesh the first one has two ends.
  using Names = std::vector<std::string_view>;
  const Names with{"ring", "tree", "torus"};
  const Names without{"ring", "tree"};
  const auto torus_of = [](const std::string& dimensions) {
    return cluster_of(
        ClusterText{.nodes = 16, .fabric = R"({"kind": "torus", "dims": )" + dimensions + "}"}
            .text());
  };
  const auto torus = torus_of("[4, 4]");
  CollectiveGroups all(1);
  for (int i = 0; i < 16; ++i) all.front().push_back(i);
  EXPECT_EQ(ways_of(*torus, all), with);
  EXPECT_EQ(ways_of(*torus, {{4, 5, 6, 7}, {0, 1, 2, 3}}), with);
  EXPECT_EQ(ways_of(*torus, {{0, 4, 8, 12}}), with);
  EXPECT_EQ(ways_of(*torus, {{4, 5, 6, 7}, {0, 1, 4, 5}}), without);
  EXPECT_EQ(ways_of(*torus, {{0, 1, 2, 3, 4, 5, 6, 7}}), without);
  EXPECT_EQ(ways_of(*torus_of(R"([4, 4], "wrap": [false, true])"), all), without);
  EXPECT_EQ(ways_of(*torus_of(R"([2, 8])"), all), with);
  EXPECT_EQ(ways_of(*cluster_of(ClusterText{.nodes = 16}.text()), all), without);
}

TEST(CollectivePrice, OnlySwitchesThatAddAreAskedTo) {
  const auto has = [](const std::string& fabric, CollectiveAlgorithm algorithm) {
    const auto cluster =
        cluster_of(ClusterText{.nodes = 2, .accelerators = 4, .nics = 4, .fabric = fabric}.text());
    return !ways_of(*cluster, kBothNodes, algorithm).empty();
  };
  const auto in_network = [&](const std::string& more) {
    return has(R"({"kind": "single_switch")" + more + "}", CollectiveAlgorithm::in_network);
  };
  EXPECT_TRUE(in_network(""));
  EXPECT_TRUE(in_network(R"(, "transport": "infiniband")"));
  EXPECT_FALSE(in_network(R"(, "transport": "infiniband", "reduces": false)"));
  EXPECT_FALSE(in_network(R"(, "transport": "roce")"));
  EXPECT_FALSE(in_network(R"(, "transport": "tcp")"));
  EXPECT_TRUE(in_network(R"(, "transport": "roce", "reduces": true)"));
  EXPECT_FALSE(has(R"({"kind": "torus", "dims": [8]})", CollectiveAlgorithm::in_network));
  EXPECT_FALSE(has(R"({"kind": "single_switch"})", CollectiveAlgorithm::nvls));
  std::string text = kNodes.text();
  text.replace(text.find("\"scale_up\": {"), 13, R"("scale_up": {"reduces": true, )");
  EXPECT_FALSE(ways_of(*cluster_of(text), kBothNodes, CollectiveAlgorithm::nvls).empty());
}

TEST(CollectivePrice, CurvesHoldOnLinksOfTheirBandwidth) {
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = measured_profile();
  profile.scale_up.measured_bandwidth = 300_GBps;
  EXPECT_NEAR(priced(*cluster, profile, kOneNode).price(1_MB).time.count(), 1.5 * 1e6 / 400e9,
              1e-15);
}

TEST(CollectivePrice, NcclTakesTheProtocolThatIsFastestForTheMessage) {
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";  // the nodes are of any
  const PricedCollective prices(*cluster, {.library = CollectiveLibrary::nccl, .profile = &profile},
                                CollectiveKind::all_reduce, kBothNodes);
  EXPECT_EQ(prices.ways().size(), 6U);  // ring and tree by three protocols
  const auto protocol = [&](Bytes message) {
    return prices.ways()[prices.price(message).way].protocol;
  };
  EXPECT_EQ(protocol(1_KiB), "LL");
  EXPECT_EQ(protocol(1_GiB), "Simple");
  for (const Bytes message : {1_KiB, 1_MiB, 1_GiB}) {
    const CollectivePrice best = prices.price(message);
    EXPECT_NEAR(idle_time(prices.ways()[best.way].plan, cluster->topology, best.amount) / best.time,
                1.0, 1e-9);
  }
}

TEST(CollectivePrice, LargeMessagesOfNcclKeepItsBuffersFilled) {
  // A ring of four in a node: 3/2 of each byte at 400 GB/s, of which the first 256 MiB reach less.
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";
  const NcclNodeCosts& inside = *nccl_node_costs(profile.accelerator);
  ASSERT_GT(inside.large_efficiency, inside.efficiency);
  const PricedCollective prices(*cluster, {.library = CollectiveLibrary::nccl, .profile = &profile},
                                CollectiveKind::all_reduce, kOneNode, CollectiveAlgorithm::ring);
  const auto more = [&](Bytes from, Bytes to) {
    return (prices.price(to).time - prices.price(from).time).count();
  };
  const double gib = 1024.0 * 1024.0 * 1024.0;
  EXPECT_NEAR(more(128_MiB, 256_MiB), 1.5 * gib / 8 / (inside.efficiency * 400e9), 1e-9);
  EXPECT_NEAR(more(1_GiB, 2_GiB), 1.5 * gib / (inside.large_efficiency * 400e9), 1e-9);
}

TEST(CollectivePrice, NcclHasNoHierarchies) {
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";
  const PricedCollective prices(*cluster, {.library = CollectiveLibrary::nccl, .profile = &profile},
                                CollectiveKind::all_reduce, kBothNodes,
                                CollectiveAlgorithm::hierarchical);
  EXPECT_TRUE(prices.ways().empty());
}

TEST(CollectivePrice, NcclHasSwitchesReduceForThreeOfADomainAndMore) {
  const auto cluster = cluster_of(kNodes.text());
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";
  NodeType node = cluster->node_type;
  node.scale_up_reduces = true;
  const auto ways = [&](const CollectiveGroups& groups) {
    const PricedCollective prices(
        *cluster, {.library = CollectiveLibrary::nccl, .profile = &profile, .node = &node},
        CollectiveKind::all_reduce, groups);
    return prices.ways().size();
  };
  EXPECT_EQ(ways(kBothNodes), 7U);
  EXPECT_EQ(ways({{0, 1, 4, 5}}), 6U);
  EXPECT_EQ(ways({{0, 1, 4, 5}, {2, 3, 6, 7}}), 6U);
}

}  // namespace
}  // namespace headway
