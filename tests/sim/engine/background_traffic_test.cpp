#include <gtest/gtest.h>

#include "tests/sim/engine/hand_workload.h"

namespace headway {
namespace {

const Topology kBackgroundStar = star({0_s, 0_s, 0_s, 0_s});
constexpr double kBackgroundError = 1e-12;

/// From one endpoint of the star to another, up to a rate.
BackgroundFlow sent(int from, int to, BytesPerSecond rate) {
  BackgroundFlow flow{.plan = across(kBackgroundStar, from, to)};
  flow.plan.rate_cap = rate;
  return flow;
}

/// When a flow of 1 GB from endpoint 0 to 1 has arrived, which alone takes 20 ms at 50 GB/s.
double arrival_beside(std::vector<BackgroundFlow> others) {
  const Workload workload = workload_of({{across(kBackgroundStar, 0, 1), 1_GB}});
  const Timeline timeline =
      simulate_workload(workload, kBackgroundStar, {.background = std::move(others)});
  EXPECT_EQ(timeline.finish, timeline.ends_of(0).back());
  return timeline.finish;
}

TEST(BackgroundTraffic, TakesNoMoreThanItsRate) {
  // 50 - 20 GB/s are left.
  EXPECT_NEAR(arrival_beside({sent(0, 1, 20_GBps)}), 1.0 / 30.0, kBackgroundError);
}

TEST(BackgroundTraffic, SharesFairlyWhatItWantsMoreOf) {
  // 25 GB/s each, on the way up or on the way down.
  EXPECT_NEAR(arrival_beside({sent(0, 2, 40_GBps)}), 0.040, kBackgroundError);
  EXPECT_NEAR(arrival_beside({sent(2, 1, 40_GBps)}), 0.040, kBackgroundError);
}

TEST(BackgroundTraffic, LeavesOtherLinksAlone) {
  EXPECT_NEAR(arrival_beside({sent(1, 0, 50_GBps), sent(2, 3, 50_GBps)}), 0.020, kBackgroundError);
}

TEST(BackgroundTraffic, BeginsAndEnds) {
  // Half of the gigabyte in 10 ms, a quarter at 25 GB/s until 20 ms, the rest in 5 ms.
  BackgroundFlow flow = sent(0, 1, 40_GBps);
  flow.from = 0.010;
  flow.to = 0.020;
  EXPECT_NEAR(arrival_beside({flow}), 0.025, kBackgroundError);
  // What begins after the flow has arrived changes nothing.
  flow.from = 0.030;
  flow.to = 0.040;
  EXPECT_NEAR(arrival_beside({flow}), 0.020, kBackgroundError);
}

TEST(BackgroundTraffic, ManyFlowsShareWithTheJob) {
  // One of five.
  const std::vector<BackgroundFlow> others(4, sent(0, 1, 50_GBps));
  EXPECT_NEAR(arrival_beside(others), 0.100, kBackgroundError);
}

}  // namespace
}  // namespace headway
