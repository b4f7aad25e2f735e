#include <gtest/gtest.h>

#include "sim/files/input_files.h"
#include "sim/network/read_topology.h"
#include "sim/programs/flows/collective_price.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

std::shared_ptr<const Cluster> shipped(const std::string& name, int nodes) {
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  const auto part = files.open(name, "topologies");
  const auto read = part ? read_topology(*part, files, nodes) : std::nullopt;
  diagnostics.throw_if_errors();
  return read->cluster;
}

struct Chosen {
  PricedCollective priced;
  CollectivePrice price;
  [[nodiscard]] CollectiveAlgorithm algorithm() const { return priced.ways()[price.way].algorithm; }
};

Chosen all_reduce(const Cluster& cluster, Bytes message,
                  std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
  CollectiveGroups groups(1);
  for (int rank = 0; rank < cluster.accelerators(); ++rank) groups.front().push_back(rank);
  PricedCollective priced(cluster, {.library = CollectiveLibrary::nccl}, CollectiveKind::all_reduce,
                          groups, algorithm);
  const CollectivePrice price = priced.price(message);
  return {std::move(priced), price};
}

/// Bus bandwidth, as nccl-tests counts it, in GB/s.
double bus_bandwidth(const Cluster& cluster, Bytes message) {
  const double factor = bus_bandwidth_factor(CollectiveKind::all_reduce, cluster.accelerators());
  return 1e-9 * factor * (message / all_reduce(cluster, message).price.time).count();
}

TEST(Transports, RacksAreAsFastAsPublished) {
  // GB200 NVL72 with a NIC of 400 Gb/s each: 810 GB/s over two racks, 406 over twenty.
  EXPECT_NEAR(bus_bandwidth(*shipped("gb200_nvl72_fat_tree", 36), 8_GiB), 810, 0.25 * 810);
  EXPECT_NEAR(bus_bandwidth(*shipped("gb200_nvl72_fat_tree", 360), 8_GiB), 406, 0.25 * 406);
}

TEST(Transports, ALibraryChoosesByWhatItBelieves) {
  // Polaris: two NICs of which NCCL counts 24 GB/s and gets 18. It takes a tree's two channels of
  // 23.6 GB/s to move a message in 2 / 47.2 of a second a GB, and a ring in 14/8 / 48. So it runs
  // rings, though those take 14/8 / 36.
  const auto polaris = shipped("polaris", 2);
  const Chosen chosen = all_reduce(*polaris, 1_GB);
  EXPECT_EQ(chosen.algorithm(), CollectiveAlgorithm::ring);
  EXPECT_NEAR(chosen.price.time.count(), 14.0 / 8.0 / 36.0, 0.02 / 36.0);
  const Chosen tree = all_reduce(*polaris, 1_GB, CollectiveAlgorithm::tree);
  EXPECT_LT(tree.price.time, chosen.price.time);
}

TEST(Transports, SocketsAreSlowerThanTheNicsTheyRunOn) {
  // 1.7 GB/s of each of two NICs: 14/8 of 1 GB in 0.515 s.
  const Chosen run = all_reduce(*shipped("polaris_sockets", 2), 1_GB);
  EXPECT_EQ(run.algorithm(), CollectiveAlgorithm::ring);
  EXPECT_NEAR(run.price.time.count(), 14.0 / 8.0 / 3.4, 0.01 * 0.515);
}

TEST(Transports, SmallMessagesOverEfaWaitForTwoDatagrams) {
  // A tree of LL, up and down: 2 x 17 us more than InfiniBand's.
  const auto efa = shipped("aws_p5_fat_tree", 2);
  const double time = all_reduce(*efa, 1_KiB).price.time.count();
  EXPECT_NEAR(time, 62e-6, 3e-6);  // published: 65 us
}

}  // namespace
}  // namespace headway
