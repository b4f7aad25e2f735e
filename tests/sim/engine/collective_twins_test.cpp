#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "hand_workload.h"
#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

constexpr Bytes kMessage = 8_GB;

/// What a simulated collective over all accelerators takes.
double simulated(const Cluster& cluster, CollectiveKind kind, CollectiveAlgorithm algorithm,
                 FlowEngine engine, Bytes message = kMessage) {
  std::vector<std::int32_t> members(static_cast<std::size_t>(cluster.accelerators()));
  std::iota(members.begin(), members.end(), 0);
  const FlowPlan plan =
      collective_plan(cluster, ideal_network_costs(cluster.node_type), kind, algorithm, {members});
  const double factor = collective_volume(kind, algorithm, cluster.accelerators()).bytes_factor;
  return arrivals({{plan, factor * message}}, cluster.topology, engine)[0];
}

/// One accelerator a node, on a switch: the neighbours of the closed form.
std::shared_ptr<const Cluster> lone_accelerators(int nodes) {
  return cluster_of(ClusterText{.nodes = nodes}.text());
}
constexpr LinkCost kHop{.latency = 2_us, .bandwidth = 50_GBps};

class CollectiveTwins : public testing::TestWithParam<FlowEngine> {};
INSTANTIATE_TEST_SUITE_P(Engines, CollectiveTwins,
                         testing::Values(FlowEngine::incremental, FlowEngine::simgrid),
                         [](const auto& engine) {
                           return engine.param == FlowEngine::simgrid ? "SimGrid" : "Incremental";
                         });

TEST_P(CollectiveTwins, EveryRingMeetsItsClosedForm) {
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
    for (const int ranks : {2, 3, 4, 7, 16}) {
      double expected =
          collective_time(kind, CollectiveAlgorithm::ring, kMessage, ranks, kHop).count();
      // Hardware sends to all at once.
      if (kind == CollectiveKind::all_to_all) expected -= (ranks - 2) * kHop.latency.count();
      EXPECT_NEAR(simulated(*lone_accelerators(ranks), kind, CollectiveAlgorithm::ring, GetParam()),
                  expected, 1e-9 * expected)
          << collective_name(kind) << " among " << ranks;
    }
  }
}

TEST_P(CollectiveTwins, TheDoubleTreeMeetsItsClosedForm) {
  for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 32, 33}) {
    const double expected = collective_time(CollectiveKind::all_reduce, CollectiveAlgorithm::tree,
                                            kMessage, ranks, kHop)
                                .count();
    EXPECT_NEAR(simulated(*lone_accelerators(ranks), CollectiveKind::all_reduce,
                          CollectiveAlgorithm::tree, GetParam()),
                expected, 1e-9 * expected)
        << ranks;
  }
}

TEST_P(CollectiveTwins, SmallMessagesMeetItToo) {
  // 64 KiB in a ring of 16: mostly latency. SimGrid counts whole bytes.
  const double expected =
      collective_time(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, 64_KiB, 16, kHop)
          .count();
  EXPECT_NEAR(simulated(*lone_accelerators(16), CollectiveKind::all_reduce,
                        CollectiveAlgorithm::ring, GetParam(), 64_KiB),
              expected, 1e-9 * expected);
}

TEST_P(CollectiveTwins, RingsOfSeveralMembersADomainUseEveryNic) {
  // 4 nodes of 4 accelerators with a NIC each: 4 x 50 GB/s carry 15/8 of the message; 30 steps over
  // rings of 4 hops of 2 us and 12 of 0.5 us.
  const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 4, .nics = 4}.text());
  const double expected = 30.0 / 16.0 * 8e9 / 200e9 + 30.0 * 14e-6 / 16.0;
  EXPECT_NEAR(
      simulated(*cluster, CollectiveKind::all_reduce, CollectiveAlgorithm::ring, GetParam()),
      expected, 1e-9 * expected);
}

TEST_P(CollectiveTwins, ARingOfSwitchlessNodesMeetsItsClosedForm) {
  // Endpoints in a circle that forward for each other: neighbours are one hop of 500 ns apart. Time
  // 2 (N-1)/N S/B + 2 (N-1) hop.
  for (const int ranks : {8, 16, 32, 64, 128, 256, 512}) {
    const auto cluster = cluster_of(ClusterText{
        .nodes = ranks,
        .fabric =
            fmt::format(R"({{"kind": "torus", "dims": [{}], "hop_latency": "500 ns"}})", ranks)}
                                        .text());
    const double expected = 2.0 * (ranks - 1) / ranks * 8e9 / 50e9 + 2.0 * (ranks - 1) * 500e-9;
    const double time =
        simulated(*cluster, CollectiveKind::all_reduce, CollectiveAlgorithm::ring, GetParam());
    EXPECT_NEAR(time, expected, 1e-3 * expected) << ranks;
    EXPECT_GE(time, expected * (1.0 - 1e-9)) << ranks;
  }
}

TEST_P(CollectiveTwins, ATorusIsAllUsedAtOnce) {
  // d dimensions of n places, a message of 2 d parts: every link of 8 GB/s carries (N-1)/N of a
  // part, in d (n-1) steps of 500 ns; an all-reduce twice.
  struct Case {
    const char* dimensions;
    int count;
    int size;
  };
  for (const auto& [dimensions, count, size] : {Case{"[8]", 1, 8}, Case{"[4, 4]", 2, 4},
                                                Case{"[4, 4, 4]", 3, 4}, Case{"[3, 3, 3]", 3, 3}}) {
    int ranks = 1;
    for (int i = 0; i < count; ++i) ranks *= size;
    const auto cluster = cluster_of(
        ClusterText{.nodes = ranks,
                    .fabric = fmt::format(R"({{"kind": "torus", "dims": {}, "bandwidth": "8 GB/s",
                                   "hop_latency": "500 ns"}})",
                                          dimensions)}
            .text());
    const double gather =
        (ranks - 1.0) / ranks * 8e9 / (2.0 * count * 8e9) + count * (size - 1.0) * 500e-9;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const double expected = kind == CollectiveKind::all_reduce ? 2.0 * gather : gather;
      EXPECT_NEAR(simulated(*cluster, kind, CollectiveAlgorithm::torus, GetParam()), expected,
                  1e-9 * expected)
          << dimensions << " " << collective_name(kind);
    }
  }
}

TEST_P(CollectiveTwins, ATorusOfUnequalSidesWaitsForTheFullest) {
  // 4 x 8: along the first dimension 3 at first and 3 x 8 behind the other one, 27; along the
  // second 7 and 7 x 4, 35, where equal sides would have 31 each.
  const auto cluster = cluster_of(
      ClusterText{.nodes = 32, .fabric = R"({"kind": "torus", "dims": [4, 8], "bandwidth": "5 GB/s",
                    "hop_latency": "500 ns"})"}
          .text());
  const double expected = 35.0 / 32.0 * 8e9 / (4.0 * 5e9) + (3 + 7) * 500e-9;
  EXPECT_NEAR(
      simulated(*cluster, CollectiveKind::all_gather, CollectiveAlgorithm::torus, GetParam()),
      expected, 1e-9 * expected);
}

TEST_P(CollectiveTwins, LinksOfATorusTogetherCarryNoMoreThanTheNic) {
  // Four links of 50 GB/s behind a NIC of 50.
  const auto cluster = cluster_of(ClusterText{
      .nodes = 16, .fabric = R"({"kind": "torus", "dims": [4, 4], "hop_latency": "500 ns"})"}
                                      .text());
  const double expected = 15.0 / 16.0 * 8e9 / 50e9 + 6 * 500e-9;
  EXPECT_NEAR(
      simulated(*cluster, CollectiveKind::all_gather, CollectiveAlgorithm::torus, GetParam()),
      expected, 1e-9 * expected);
}

TEST_P(CollectiveTwins, AHalvedLinkHalvesTheRing) {
  // A pipelined ring goes as fast as its slowest edge: 16 nodes, one NIC at 25 GB/s.
  const auto cluster = lone_accelerators(16);
  std::vector<std::int32_t> members(16);
  std::iota(members.begin(), members.end(), 0);
  const FlowPlan plan =
      collective_plan(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_reduce,
                      CollectiveAlgorithm::ring, {members});
  Topology slower = cluster->topology;
  slower.link(plan.links[5].link).capacity = 25_GBps;
  const double expected = 30.0 / 16.0 * 8e9 / 25e9 + 30.0 * 2e-6;
  EXPECT_NEAR(arrivals({{plan, 30.0 / 16.0 * kMessage}}, slower, GetParam())[0], expected,
              1e-9 * expected);
}

TEST_P(CollectiveTwins, TwoRingsOnTheSameLinksTakeTwiceAsLong) {
  const auto cluster = lone_accelerators(8);
  std::vector<std::int32_t> members(8);
  std::iota(members.begin(), members.end(), 0);
  const FlowPlan plan =
      collective_plan(*cluster, ideal_network_costs(cluster->node_type), CollectiveKind::all_gather,
                      CollectiveAlgorithm::ring, {members});
  const Bytes amount = 7.0 / 8.0 * kMessage;
  const auto ends = arrivals({{plan, amount}, {plan, amount}}, cluster->topology, GetParam());
  const double expected = 2.0 * 7e9 / 50e9 + 7 * 2e-6;
  EXPECT_NEAR(ends[0], expected, 1e-9 * expected);
  EXPECT_NEAR(ends[1], expected, 1e-9 * expected);
}

}  // namespace
}  // namespace headway
