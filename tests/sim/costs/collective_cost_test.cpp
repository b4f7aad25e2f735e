#include "sim/costs/collective_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr LinkCost kQuietLink{.latency = 5.0_us, .bandwidth = 50_GBps};
constexpr auto kRing = CollectiveAlgorithm::ring;
constexpr auto kTree = CollectiveAlgorithm::tree;

constexpr std::array kAllKinds = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                  CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                  CollectiveKind::all_to_all,     CollectiveKind::send_receive};

double ring_us(CollectiveKind kind, Bytes message, int ranks) {
  return collective_time(kind, kRing, message, ranks, kQuietLink).count() * 1e6;
}

TEST(CollectiveTime, OneRankTakesNoTime) {
  for (const CollectiveKind kind : kAllKinds) {
    EXPECT_EQ(collective_time(kind, kRing, 64_MiB, 1, kQuietLink), Seconds(0.0));
  }
  EXPECT_EQ(collective_time(CollectiveKind::all_reduce, kTree, 64_MiB, 1, kQuietLink),
            Seconds(0.0));
}

TEST(CollectiveTime, TwoRanksOfAnAllReducePassHalfTheMessageTwice) {
  // 2 steps x (5 us + 32 MiB / 50 GB/s) = 2 x (5 us + 671.08864 us)
  EXPECT_NEAR(ring_us(CollectiveKind::all_reduce, 64_MiB, 2), 1352.17728, 1e-6);
}

TEST(CollectiveTime, RingsOfFourRanks) {
  // 100 MB / 50 GB/s = 2000 us for a whole message.
  EXPECT_NEAR(ring_us(CollectiveKind::all_reduce, 100_MB, 4), 2 * 0.75 * 2000 + 6 * 5, 1e-9);
  EXPECT_NEAR(ring_us(CollectiveKind::all_gather, 100_MB, 4), 0.75 * 2000 + 3 * 5, 1e-9);
  EXPECT_NEAR(ring_us(CollectiveKind::reduce_scatter, 100_MB, 4), 0.75 * 2000 + 3 * 5, 1e-9);
  EXPECT_NEAR(ring_us(CollectiveKind::all_to_all, 100_MB, 4), 0.75 * 2000 + 3 * 5, 1e-9);
  // A chain passes all of the message on, piece by piece; the last rank is 3 steps away.
  EXPECT_NEAR(ring_us(CollectiveKind::broadcast, 100_MB, 4), 2000 + 3 * 5, 1e-9);
  EXPECT_NEAR(ring_us(CollectiveKind::send_receive, 100_MB, 2), 2000 + 5, 1e-9);
}

TEST(CollectiveTime, InTheNetworkEachRankSendsTheMessageOnce) {
  // 5 us + 100 MB / 50 GB/s, however many there are; a ring of many sends nearly twice as much.
  for (const int ranks : {2, 64}) {
    EXPECT_NEAR(collective_time(CollectiveKind::all_reduce, CollectiveAlgorithm::in_network, 100_MB,
                                ranks, kQuietLink)
                    .count(),
                2005e-6, 1e-12);
  }
  EXPECT_FALSE(has_algorithm(CollectiveKind::all_gather, CollectiveAlgorithm::in_network));
}

TEST(CollectiveTime, AnAllReduceIsAReduceScatterAndAnAllGather) {
  for (const int ranks : {2, 3, 8, 1000}) {
    EXPECT_NEAR(ring_us(CollectiveKind::all_reduce, 7_MB, ranks),
                ring_us(CollectiveKind::reduce_scatter, 7_MB, ranks) +
                    ring_us(CollectiveKind::all_gather, 7_MB, ranks),
                1e-6);
  }
}

TEST(CollectiveTime, TheBandwidthTermApproachesTwiceTheMessageAsTheRingGrows) {
  const LinkCost no_latency{.latency = Seconds(0.0), .bandwidth = 50_GBps};
  const Seconds limit = 2.0 * (64_MiB / no_latency.bandwidth);
  const Seconds time = collective_time(CollectiveKind::all_reduce, kRing, 64_MiB, 512, no_latency);
  EXPECT_NEAR(time / limit, 511.0 / 512.0, 1e-12);
}

TEST(CollectiveTime, AnInvalidRequestIsABug) {
  EXPECT_THROW((void)collective_volume(CollectiveKind::all_reduce, kRing, 0), InternalError);
  EXPECT_THROW((void)collective_volume(CollectiveKind::broadcast, kTree, 4), InternalError);
  EXPECT_THROW((void)collective_time(CollectiveKind::all_reduce, kRing, 1_MB, 2, LinkCost{}),
               InternalError);
}

/// Parent of each rank in a binary tree as NCCL lays it out (src/graph/trees.cc): odd ranks are
/// leaves, rank 0 is the root, and the lowest set bit of a rank is its height.
std::vector<int> tree_parents(int ranks) {
  std::vector<int> parents(static_cast<std::size_t>(ranks), -1);
  for (int rank = 1; rank < ranks; ++rank) {
    const int bit = rank & -rank;
    const int up = (rank ^ bit) | (bit << 1);
    parents[static_cast<std::size_t>(rank)] = up < ranks ? up : rank ^ bit;
  }
  return parents;
}

/// The second tree: the first one mirrored, or shifted by a rank if their number is odd.
std::vector<int> other_tree_parents(int ranks) {
  const std::vector<int> first = tree_parents(ranks);
  std::vector<int> parents(first.size(), -1);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto image = [ranks](int r) { return ranks % 2 == 0 ? ranks - 1 - r : (r + 1) % ranks; };
    const int parent = first[static_cast<std::size_t>(rank)];
    if (parent >= 0) parents[static_cast<std::size_t>(image(rank))] = image(parent);
  }
  return parents;
}

int depth_below_root(const std::vector<int>& parents, int rank) {
  int depth = 0;
  while (parents[static_cast<std::size_t>(rank)] >= 0) {
    rank = parents[static_cast<std::size_t>(rank)];
    ++depth;
  }
  return depth;
}

TEST(DoubleTree, VolumeAndStepsAreThoseOfTheTreesThatNcclBuilds) {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    std::vector<double> sent(static_cast<std::size_t>(ranks), 0.0);
    int depth = 0;
    for (const auto& parents : {tree_parents(ranks), other_tree_parents(ranks)}) {
      for (int rank = 0; rank < ranks; ++rank) {
        depth = std::max(depth, depth_below_root(parents, rank));
        const int parent = parents[static_cast<std::size_t>(rank)];
        if (parent < 0) continue;
        sent[static_cast<std::size_t>(rank)] += 0.5;    // half the message up, reduced
        sent[static_cast<std::size_t>(parent)] += 0.5;  // and down again, complete
      }
    }
    const CollectiveVolume volume = collective_volume(CollectiveKind::all_reduce, kTree, ranks);
    EXPECT_EQ(volume.bytes_factor, *std::max_element(sent.begin(), sent.end())) << ranks;
    EXPECT_EQ(volume.steps, 2 * depth) << ranks;
  }
}

TEST(BusBandwidth, FactorsAreThoseOfNcclTests) {
  // nccl-tests doc/PERFORMANCE.md, for 8 ranks.
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 8), 2.0 * 7 / 8);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_gather, 8), 7.0 / 8);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::reduce_scatter, 8), 7.0 / 8);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_to_all, 8), 7.0 / 8);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::broadcast, 8), 1.0);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::send_receive, 8), 1.0);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::reduce, 8), 1.0);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::gather, 8), 7.0 / 8);
  EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::scatter, 8), 7.0 / 8);
}

TEST(BusBandwidth, OfALargeRingIsTheLinksBandwidth) {
  for (const CollectiveKind kind : kAllKinds) {
    const Seconds time = collective_time(kind, kRing, 100_GB, 16, kQuietLink);
    const BytesPerSecond bus = bus_bandwidth_factor(kind, 16) * (100_GB / time);
    EXPECT_NEAR(bus / kQuietLink.bandwidth, 1.0, 1e-3) << collective_name(kind);
  }
}

TEST(CollectiveKinds, AreOfMessagesWhereNobodyPassesOn) {
  using enum CollectiveKind;
  for (const CollectiveKind kind : {all_to_all, send_receive, gather, scatter}) {
    EXPECT_TRUE(is_of_messages(kind)) << collective_name(kind);
    EXPECT_FALSE(has_algorithm(kind, CollectiveAlgorithm::tree)) << collective_name(kind);
  }
  for (const CollectiveKind kind : {all_reduce, all_gather, reduce_scatter, broadcast, reduce}) {
    EXPECT_FALSE(is_of_messages(kind)) << collective_name(kind);
  }
  EXPECT_TRUE(has_algorithm(all_reduce, CollectiveAlgorithm::tree));
  EXPECT_TRUE(has_algorithm(broadcast, CollectiveAlgorithm::ring));
}

}  // namespace
}  // namespace headway
