#include <gtest/gtest.h>

#include "hand_workload.h"

namespace headway {
namespace {

/// Both ways of sharing links have to pass each of these.
class Transfers : public testing::TestWithParam<FlowEngine> {
 protected:
  static std::vector<double> times(const std::vector<HandFlow>& flows, const Topology& topology) {
    return arrivals(flows, topology, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, Transfers,
                         testing::Values(FlowEngine::incremental, FlowEngine::simgrid),
                         [](const auto& engine) {
                           return engine.param == FlowEngine::simgrid ? "SimGrid" : "Incremental";
                         });

TEST_P(Transfers, AnIdlePathTakesItsLatencyAndSizeOverBandwidth) {
  // 1 us + 1 us + 100 GB / 50 GB/s
  const Topology topology = star({1_us, 1_us});
  EXPECT_NEAR(times({{across(topology, 0, 1), 100_GB}}, topology)[0], 2.000002, 2e-9);
}

TEST_P(Transfers, ASmallMessageTakesItsLatencyAndSizeOverBandwidthToo) {
  // 2 us + 1 MB / 50 GB/s = 22 us, to 1e-9 of it.
  const Topology topology = star({1_us, 1_us});
  EXPECT_NEAR(times({{across(topology, 0, 1), 1_MB}}, topology)[0], 22e-6, 22e-15);
}

TEST_P(Transfers, SharingDoesNotDependOnTheLengthOfThePath) {
  // Two flows of 1 GB into the NIC of host 2, over paths of 2 us and of 22 us. Alone for 20 us, the
  // first moves 1 MB; then both have 25 GB/s: it ends at 22 us + 999 MB / 25 GB/s = 39.982 ms, the
  // second when 2 GB have gone in: 2 us + 40 ms. A model that shares by latency (SimGrid's CM02 as
  // it comes) would end the first at 21.8 ms.
  const Topology topology = star({1_us, 21_us, 1_us});
  const auto ends =
      times({{across(topology, 0, 2), 1_GB}, {across(topology, 1, 2), 1_GB}}, topology);
  EXPECT_NEAR(ends[0], 39.982e-3, 40e-9);
  EXPECT_NEAR(ends[1], 40.002e-3, 40e-9);
  // The share of each while both run, to 1e-6: what is left at 22 us over the time it takes.
  EXPECT_NEAR(0.999e9 / (ends[0] - 22e-6) / 25e9, 1.0, 1e-6);
}

TEST_P(Transfers, OppositeDirectionsDoNotSlowEachOther) {
  const Topology topology = star({1_us, 1_us});
  const auto ends =
      times({{across(topology, 0, 1), 50_GB}, {across(topology, 1, 0), 50_GB}}, topology);
  EXPECT_NEAR(ends[0], 1.000002, 1e-9);
  EXPECT_NEAR(ends[1], 1.000002, 1e-9);
}

TEST_P(Transfers, APortGivesFlowsTogetherWhatItGivesOne) {
  // A port of 100 GB/s, by which 10 GB leave that no link holds and 4 GB over a link. Over one of
  // 160 GB/s both have 50 GB/s until 4 GB are through at 80 ms; the 6 GB left take 60 ms. A slower
  // one, of 94 GB/s, changes nothing, as half of the port is less. Over one of 25 GB/s 4 GB take
  // 160 ms, and the others have 75 GB/s: 10 GB in 133.3 ms.
  const FlowPlan inside{.rate_cap = 100_GBps, .port_rate = 100_GBps, .ports = {0}};
  const auto ends = [&](BytesPerSecond bandwidth) {
    const Topology topology = star({0_s, 0_s}, bandwidth);
    FlowPlan outside = across(topology, 0, 1);
    outside.port_rate = 100_GBps;
    outside.ports = {0};
    return times({{inside, 10_GB}, {outside, 4_GB}}, topology);
  };
  for (const BytesPerSecond bandwidth : {160_GBps, 94_GBps}) {
    EXPECT_NEAR(ends(bandwidth)[0], 0.14, 1e-9);
    EXPECT_NEAR(ends(bandwidth)[1], 0.08, 1e-9);
  }
  EXPECT_NEAR(ends(25_GBps)[0], 10.0 / 75.0, 1e-9);
  EXPECT_NEAR(ends(25_GBps)[1], 0.16, 1e-9);
}

TEST_P(Transfers, ManyFlowsShareOneNicEqually) {
  // 7 flows of 10 GB into 50 GB/s: all end when 70 GB are in.
  const Topology topology = star(std::vector<Seconds>(8, 1_us));
  std::vector<HandFlow> flows;
  for (int i = 0; i < 7; ++i) flows.push_back({across(topology, i, 7), 10_GB});
  for (const double end : times(flows, topology)) EXPECT_NEAR(end, 1.400002, 1.4e-9);
}

TEST_P(Transfers, AFlowTakesUpWhatAnotherLeaves) {
  // 20 GB and 60 GB from one NIC: 25 GB/s each until the first is through at 0.8 s; then 40 GB are
  // left of the second and take 0.8 s at 50 GB/s.
  const Topology topology = star({0_s, 0_s, 0_s});
  const auto ends =
      times({{across(topology, 0, 1), 20_GB}, {across(topology, 0, 2), 60_GB}}, topology);
  EXPECT_NEAR(ends[0], 0.8, 1e-9);
  EXPECT_NEAR(ends[1], 1.6, 1e-9);
}

TEST_P(Transfers, ALateFlowSharesFromItsStartOn) {
  // 50 GB from 0; another 50 GB from 0.5 s on. 25 GB are left at 0.5 s and take 1 s at half rate;
  // the second then has 25 GB left, which take 0.5 s.
  const Topology topology = star({0_s, 0_s, 0_s});
  const auto ends =
      times({{across(topology, 0, 2), 50_GB}, {across(topology, 1, 2), 50_GB, 0.5_s}}, topology);
  EXPECT_NEAR(ends[0], 1.5, 1e-9);
  EXPECT_NEAR(ends[1], 2.0, 1e-9);
}

TEST_P(Transfers, WhatIsSentLaterMayBeginSooner) {
  // 50 GB are sent at once and begin after 2 s of latency. 75 GB are sent at 1 s and begin then: 50
  // of them are through at 2 s, the other 25 take 1 s at half of the rate. The first has 25 GB left
  // at 3 s, which take half a second.
  const Topology topology = star({2_s, 0_s, 0_s});
  const auto ends =
      times({{across(topology, 0, 2), 50_GB}, {across(topology, 1, 2), 75_GB, 1_s}}, topology);
  EXPECT_NEAR(ends[0], 3.5, 1e-9);
  EXPECT_NEAR(ends[1], 3.0, 1e-9);
}

TEST_P(Transfers, WhatComesAndGoesBeforeAFlowBeginsDoesNotDelayIt) {
  // As above, but that the second is through, from 0.5 s to 1 s, before the first begins.
  const Topology topology = star({2_s, 0_s, 0_s});
  const auto ends =
      times({{across(topology, 0, 2), 50_GB}, {across(topology, 1, 2), 25_GB, 0.5_s}}, topology);
  EXPECT_NEAR(ends[0], 3.0, 1e-9);
  EXPECT_NEAR(ends[1], 1.0, 1e-9);
}

TEST(TransferCounts, AFlowThatMeetsNobodyIsOneEvent) {
  // Two that meet nobody: each an event when it is sent (the block before it is done) and one when
  // it is there; nothing is ever shared out.
  const Topology topology = star({1_us, 1_us, 1_us, 1_us});
  const Workload workload =
      workload_of({{across(topology, 0, 1), 1_GB}, {across(topology, 2, 3), 1_GB, 1_ms}});
  const EngineCounts counts = simulate_workload(workload, topology, {}, {}).counts;
  EXPECT_EQ(counts.flows, 2);
  EXPECT_EQ(counts.events, 4);
  EXPECT_EQ(counts.settlings, 0);
}

TEST_P(Transfers, ARateCapHolds) {
  // 10 GB/s of 50: 4 s for 40 GB; the other flow has the 40 GB/s that are left: 160 GB in 4 s.
  const Topology topology = star({0_s, 0_s, 0_s});
  FlowPlan capped = across(topology, 0, 2);
  capped.rate_cap = 10_GBps;
  const auto ends = times({{capped, 40_GB}, {across(topology, 1, 2), 160_GB}}, topology);
  EXPECT_NEAR(ends[0], 4.0, 4e-9);
  EXPECT_NEAR(ends[1], 4.0, 4e-9);
}

TEST_P(Transfers, AWeightTakesThatMuchOfALink) {
  // A flow that crosses its link three times for each byte has 12.5 GB/s beside a plain one, which
  // has as much; when the plain one is through with 25 GB at 2 s, 50 / 3 GB/s are left for 75 GB.
  const Topology topology = star({0_s, 0_s, 0_s});
  FlowPlan heavy{.links = {{0, 3.0}, {5, 1.0}}};
  const auto ends = times({{heavy, 100_GB}, {across(topology, 0, 1), 25_GB}}, topology);
  EXPECT_NEAR(ends[1], 2.0, 2e-9);
  EXPECT_NEAR(ends[0], 2.0 + 75.0 * 3.0 / 50.0, 6e-9);
}

TEST_P(Transfers, WeightsNeedNotBeMultiplesOfTheSmallest) {
  // A half of the flow on one link, a third on another: 50 GB/s allow 100 and 150 GB/s.
  const Topology topology = star({0_s, 0_s});
  FlowPlan split{.links = {{0, 0.5}, {3, 1.0 / 3.0}}};
  EXPECT_NEAR(times({{split, 300_GB}}, topology)[0], 3.0, 3e-9);
}

TEST_P(Transfers, ACollectiveOverTwoRailsHasOnEachTheShareOfATransfer) {
  // Half of a ring's bytes cross each of two NICs. On the one that it shares with a transfer both
  // have 25 GB/s, so the ring moves 50 GB/s: 50 GB take 1 s. The transfer then has 25 GB left.
  const Topology topology = star({0_s, 0_s, 0_s});
  FlowPlan ring{.links = {{0, 0.5}, {2, 0.5}}};
  const auto ends = times({{ring, 50_GB}, {across(topology, 0, 2), 50_GB}}, topology);
  EXPECT_NEAR(ends[0], 1.0, 1e-9);
  EXPECT_NEAR(ends[1], 1.5, 1.5e-9);
}

TEST_P(Transfers, WithoutLinksTheCapAlone) {
  const Topology topology = star({0_s, 0_s});
  EXPECT_NEAR(times({{{.latency = 3_us, .rate_cap = 450_GBps}, 45_GB}}, topology)[0], 0.100003,
              1e-12);
}

TEST_P(Transfers, AnEmptyMessageTakesItsLatency) {
  const Topology topology = star({1_us, 1_us});
  EXPECT_NEAR(times({{across(topology, 0, 1), 0_B}}, topology)[0], 2e-6, 1e-18);
}

TEST_P(Transfers, ANetworkOfNoLatencyAndNoBytesEndsAtZero) {
  const Topology topology = star({0_s, 0_s});
  EXPECT_EQ(times({{across(topology, 0, 1), 0_B}}, topology)[0], 0.0);
}

}  // namespace
}  // namespace headway
