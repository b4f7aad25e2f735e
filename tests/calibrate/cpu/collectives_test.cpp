#include "calibrate/cpu/collectives.h"

#include <gtest/gtest.h>

#include "calibrate/cpu/transport_rendezvous.h"
#include "tests/calibrate/cpu/thread_transport.h"

namespace headway {
namespace {

using Floats = std::vector<float>;

/// Rank r starts with r + 1 + i at element i.
Floats start(int rank, std::size_t count) {
  Floats data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<float>(rank + 1) + static_cast<float>(i);
  return data;
}

/// Sum over the ranks: n(n+1)/2 + n i.
Floats sum(int ranks, std::size_t count) {
  Floats data(count);
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = static_cast<float>(ranks * (ranks + 1)) / 2.0F +
              static_cast<float>(ranks) * static_cast<float>(i);
  }
  return data;
}

/// Group sizes, and counts that they divide, that they do not, and fewer elements than ranks.
class CollectivesOfSize : public ::testing::TestWithParam<std::tuple<int, std::size_t>> {
 protected:
  [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::size_t count() { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Groups, CollectivesOfSize,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 7, 8),
                                            ::testing::Values(1, 5, 24, 70000)));

TEST_P(CollectivesOfSize, AllReducesGiveEverybodyTheSum) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    Collectives collectives(transport, ranks());
    Floats ring = start(transport.rank(), count());
    collectives.ring_all_reduce(ring);
    EXPECT_EQ(ring, sum(ranks(), count()));
    Floats tree = start(transport.rank(), count());
    collectives.tree_all_reduce(tree);
    EXPECT_EQ(tree, sum(ranks(), count()));
    if ((ranks() & (ranks() - 1)) != 0) return;
    Floats doubling = start(transport.rank(), count());
    collectives.recursive_doubling_all_reduce(doubling);
    EXPECT_EQ(doubling, sum(ranks(), count()));
  }));
}

TEST_P(CollectivesOfSize, ReduceScatterGivesEachRankItsPartOfTheSum) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    Collectives collectives(transport, ranks());
    Floats data = start(transport.rank(), count());
    collectives.ring_reduce_scatter(data);
    Floats expected = sum(ranks(), count());
    const auto mine = collectives.part(data, transport.rank());
    const auto right = collectives.part(expected, transport.rank());
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), right.begin(), right.end()));
  }));
}

TEST_P(CollectivesOfSize, AllGatherGivesEverybodyAllParts) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    Collectives collectives(transport, ranks());
    Floats data(count(), -1.0F);
    for (float& value : collectives.part(data, transport.rank())) {
      value = static_cast<float>(transport.rank());
    }
    collectives.ring_all_gather(data);
    for (int rank = 0; rank < ranks(); ++rank) {
      for (const float value : collectives.part(data, rank)) {
        EXPECT_EQ(value, static_cast<float>(rank));
      }
    }
  }));
}

TEST_P(CollectivesOfSize, BroadcastGivesEverybodyTheFirstRanksData) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    Floats data = start(transport.rank(), count());
    Collectives(transport, ranks()).chain_broadcast(data);
    EXPECT_EQ(data, start(0, count()));
  }));
}

TEST_P(CollectivesOfSize, AllToAllTransposes) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    // Each part holds sender * 10 + receiver.
    const std::size_t each = 3;
    const auto n = static_cast<std::size_t>(ranks());
    Floats out(n * each);
    Floats in(n * each);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<float>(transport.rank() * 10) + static_cast<float>(i / each);
    }
    Collectives(transport, ranks()).pairwise_all_to_all(out, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(in[i], static_cast<float>(i / each) * 10.0F + static_cast<float>(transport.rank()));
    }
  }));
}

TEST_P(CollectivesOfSize, SendReceivePassesDataOnAlongTheRing) {
  EXPECT_TRUE(run_on_ranks(ranks(), [](Transport& transport) {
    const Floats out = start(transport.rank(), count());
    Floats in(count());
    Collectives(transport, ranks()).ring_send_receive(out, in);
    EXPECT_EQ(in, start((transport.rank() + ranks() - 1) % ranks(), count()));
  }));
}

TEST(Collectives, AGroupLeavesTheOtherRanksAlone) {
  EXPECT_TRUE(run_on_ranks(3, [](Transport& transport) {
    if (transport.rank() == 2) return;
    Floats data = start(transport.rank(), 10);
    Collectives(transport, 2).ring_all_reduce(data);
    EXPECT_EQ(data, sum(2, 10));
  }));
}

TEST(TransportRendezvous, GathersBroadcastsAndTakesTheLargest) {
  EXPECT_TRUE(run_on_ranks(4, [](Transport& transport) {
    TransportRendezvous rendezvous(transport);
    EXPECT_EQ(rendezvous.all_gather(transport.rank() * 2.0), (std::vector<double>{0, 2, 4, 6}));
    double value = transport.rank();
    rendezvous.broadcast(std::as_writable_bytes(std::span(&value, 1)));
    EXPECT_EQ(value, 0.0);
    rendezvous.barrier();
    EXPECT_EQ(group_max(transport, 4, transport.rank() == 2 ? 9.0 : 1.0), 9.0);
  }));
}

}  // namespace
}  // namespace headway
