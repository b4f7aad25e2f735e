#include <gtest/gtest.h>

#include "hand_workload.h"
#include "tests/support/random_numbers.h"

namespace headway {
namespace {

constexpr double kRate = 50e9;  // 400 Gb/s

/// Two leaves of ten hosts each under one spine, everything at 400 Gb/s but for trunks of `uplink`.
/// Host i sends by link 2 i and receives by link 2 i + 1; a leaf's trunk rises by link 40 + 2 leaf
/// and falls by the next.
Topology leaves(double uplink) {
  Topology topology;
  for (int i = 0; i < 20; ++i) topology.add_endpoint("host" + std::to_string(i));
  const VertexId left = topology.add_switch("left", 0);
  const VertexId right = topology.add_switch("right", 0);
  const VertexId spine = topology.add_switch("spine", 1);
  for (int i = 0; i < 20; ++i) {
    topology.add_cable(i, i < 10 ? left : right, BytesPerSecond(kRate), Seconds(0.0));
  }
  topology.add_cable(left, spine, BytesPerSecond(uplink), Seconds(0.0));
  topology.add_cable(right, spine, BytesPerSecond(uplink), Seconds(0.0));
  return topology;
}

HandFlow between(int from, int to, double gigabytes) {
  HandFlow flow{.amount = Bytes(gigabytes * 1e9)};
  flow.plan.links.push_back({2 * from, 1.0});
  if (from / 10 != to / 10) {
    flow.plan.links.push_back({40 + 2 * (from / 10), 1.0});
    flow.plan.links.push_back({41 + 2 * (to / 10), 1.0});
  }
  flow.plan.links.push_back({2 * to + 1, 1.0});
  return flow;
}

TEST(PausedLinks, AVictimBesideAnIncastGoesAsSlowlyAsTheFlowsThatAreHeldUp) {
  // Seven hosts of the left leaf send 50 GB each to host 10, which takes in 50 GB/s: 7 s. The
  // eighth sends 50 GB to host 11, which nobody else does. The trunk carries 400 GB/s: fair sharing
  // gives it all of its NIC, 1 s. Paused, the trunk lets everybody pass at a seventh.
  const Topology topology = leaves(8 * kRate);
  std::vector<HandFlow> flows;
  for (int i = 0; i < 7; ++i) flows.push_back(between(i, 10, 50.0));
  flows.push_back(between(7, 11, 50.0));
  EXPECT_NEAR(arrivals(flows, topology, FlowEngine::incremental)[7], 1.0, 1e-9);
  const std::vector<double> paused = arrivals(flows, topology, FlowEngine::paused);
  EXPECT_NEAR(paused[0], 7.0, 1e-9);
  EXPECT_NEAR(paused[7], 7.0, 1e-9);
}

TEST(PausedLinks, AVictimIsFreeOnceTheIncastIsThrough) {
  // Two send 25 GB each to host 10: 1 s at 25 GB/s each. The victim has sent 25 of its 75 GB by
  // then and goes on at 50 GB/s: 2 s.
  const Topology topology = leaves(8 * kRate);
  const std::vector<HandFlow> flows = {between(0, 10, 25.0), between(1, 10, 25.0),
                                       between(2, 11, 75.0)};
  const std::vector<double> paused = arrivals(flows, topology, FlowEngine::paused);
  EXPECT_NEAR(paused[1], 1.0, 1e-9);
  EXPECT_NEAR(paused[2], 2.0, 1e-9);
}

TEST(PausedLinks, WhoSharesNoLinkOnTheWayIsNoVictim) {
  // Host 12 sends to host 10 too, from its own leaf; host 13 to 14 beside it, and host 3 to 4.
  const Topology topology = leaves(8 * kRate);
  const std::vector<HandFlow> flows = {between(0, 10, 50.0), between(12, 10, 50.0),
                                       between(13, 14, 50.0), between(3, 4, 50.0)};
  const std::vector<double> paused = arrivals(flows, topology, FlowEngine::paused);
  EXPECT_NEAR(paused[0], 2.0, 1e-9);
  EXPECT_NEAR(paused[2], 1.0, 1e-9);
  EXPECT_NEAR(paused[3], 1.0, 1e-9);
}

TEST(PausedLinks, TheNicOfASenderIsPausedForAllThatItSends) {
  // Hosts 0 and 1 send to 10. Host 0 sends to 5 of its own leaf too, whose way leads over nothing
  // but its NIC: fair sharing leaves that flow 25 GB/s, as the pause does.
  const Topology topology = leaves(8 * kRate);
  const std::vector<HandFlow> two = {between(0, 10, 25.0), between(1, 10, 25.0),
                                     between(0, 5, 25.0)};
  EXPECT_NEAR(arrivals(two, topology, FlowEngine::paused)[2], 1.0, 1e-9);
  // With four into host 10 each has 12.5 GB/s; the one beside would have 37.5, and has 12.5.
  const std::vector<HandFlow> four = {between(0, 10, 25.0), between(1, 10, 25.0),
                                      between(2, 10, 25.0), between(3, 10, 25.0),
                                      between(0, 5, 25.0)};
  EXPECT_NEAR(arrivals(four, topology, FlowEngine::incremental)[4], 25.0 / 37.5, 1e-9);
  EXPECT_NEAR(arrivals(four, topology, FlowEngine::paused)[4], 2.0, 1e-9);
}

TEST(PausedLinks, AnIncastItselfTakesWhatItTakes) {
  // The last byte of n senders into one NIC is in when that has carried all of them. Packet by
  // packet 4 MiB of each, of which 98 % of a packet are data, took 178, 343 and 675 us.
  constexpr double kData = 4.0 * 1024 * 1024 / 0.98;
  const std::vector<std::pair<int, double>> by_packets = {{2, 178e-6}, {4, 343e-6}, {8, 675e-6}};
  for (const auto& [senders, packets] : by_packets) {
    std::vector<HandFlow> flows;
    for (int i = 0; i < senders; ++i) flows.push_back(between(i, 10, 1e-9 * kData));
    for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::paused}) {
      const double time = arrivals(flows, leaves(8 * kRate), engine)[0];
      EXPECT_NEAR(time, senders * kData / kRate, 1e-12);
      EXPECT_NEAR(time, packets, 0.05 * packets);
    }
  }
}

TEST(PausedLinks, NobodyIsFasterThanWithFairShares) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomNumbers random(seed);
    const Topology topology = leaves(random.between(1.0, 8.0) * kRate);
    std::vector<HandFlow> flows;
    for (int i = 0; i < 12; ++i) {
      const int from = random.below(20);
      flows.push_back(between(from, (from + 1 + random.below(19)) % 20, 50.0));
    }
    // All begin together: the first to end does so no sooner.
    const std::vector<double> fair = arrivals(flows, topology, FlowEngine::incremental);
    const std::vector<double> paused = arrivals(flows, topology, FlowEngine::paused);
    EXPECT_GE(std::ranges::min(paused), std::ranges::min(fair) * (1.0 - 1e-9));
    EXPECT_GE(std::ranges::max(paused), std::ranges::max(fair) * (1.0 - 1e-9));
  }
}

}  // namespace
}  // namespace headway
