#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"
#include "tests/sim/engine/hand_workload.h"

namespace headway {
namespace {

/// When flows have arrived while links change.
std::vector<double> arrivals_with(const std::vector<HandFlow>& flows, const Topology& topology,
                                  std::vector<LinkEpisode> episodes) {
  const Perturbation perturbation{.link_episodes = std::move(episodes)};
  const Workload workload = workload_of(flows);
  const Timeline timeline = simulate_workload(workload, topology, perturbation);
  std::vector<double> times;
  for (std::int32_t group = 0; group < std::ssize(flows); ++group) {
    times.push_back(timeline.ends_of(group).back());
  }
  return times;
}

const Topology kSlowLinkStar = star({0_s, 0_s, 0_s, 0_s});
constexpr double kSlowLinkError = 1e-12;

TEST(SlowLinks, AFlowGoesOnSlowerWhileItsLinkIsDegraded) {
  // 1 GB at 50 GB/s would take 20 ms. Half the rate from 10 to 20 ms: 0.5 GB, 0.25 GB, and the last
  // 0.25 GB in 5 ms.
  const auto times =
      arrivals_with({{across(kSlowLinkStar, 0, 1), 1_GB}}, kSlowLinkStar, {{0, 0.010, 0.020, 0.5}});
  EXPECT_NEAR(times[0], 0.025, kSlowLinkError);
}

TEST(SlowLinks, AFlowWaitsForALinkThatFlaps) {
  const auto times = arrivals_with({{across(kSlowLinkStar, 0, 1), 1_GB}}, kSlowLinkStar,
                                   {{0, 0.010, 0.015, 0.0}, {1, 0.030, 0.040, 0.0}});
  EXPECT_NEAR(times[0], 0.025, kSlowLinkError);
}

TEST(SlowLinks, AFlowThatBeginsWhileTheLinkIsDownStartsWhenItIsBack) {
  const auto times = arrivals_with({{across(kSlowLinkStar, 0, 1), 1_GB, Seconds(0.002)}},
                                   kSlowLinkStar, {{0, 0.001, 0.006, 0.0}});
  EXPECT_NEAR(times[0], 0.026, kSlowLinkError);
}

TEST(SlowLinks, OthersTakeWhatAThrottledFlowLeaves) {
  // Two flows share the cable into host 2 at 25 GB/s each. Host 0's cable carries 5 GB/s to 20 ms:
  // 0.1 GB of the first, 45 GB/s x 20 ms = 0.9 GB of the second, whose last 0.1 GB take 4 ms at
  // 25 GB/s. The first has 0.8 GB left then: 16 ms at full rate.
  const auto times =
      arrivals_with({{across(kSlowLinkStar, 0, 2), 1_GB}, {across(kSlowLinkStar, 1, 2), 1_GB}},
                    kSlowLinkStar, {{0, 0.0, 0.020, 0.1}});
  EXPECT_NEAR(times[1], 0.024, kSlowLinkError);
  EXPECT_NEAR(times[0], 0.040, kSlowLinkError);
}

TEST(SlowLinks, JobsThatShareALinkTakeAsManyTimesAsLong) {
  // M jobs of one flow each over the same cable: each has 1 / M of it, all end together.
  for (const int jobs : {1, 2, 5, 16}) {
    const std::vector<HandFlow> flows(static_cast<std::size_t>(jobs),
                                      {across(kSlowLinkStar, 0, 1), 1_GB});
    for (const double time : arrivals_with(flows, kSlowLinkStar, {})) {
      EXPECT_NEAR(time, 0.020 * jobs, 1e-9 * jobs);
    }
  }
}

TEST(SlowLinks, AnEpisodeThatLeavesEverythingChangesNoBit) {
  const std::vector<HandFlow> flows = {{across(kSlowLinkStar, 0, 2), 1_GB},
                                       {across(kSlowLinkStar, 1, 2), 0.3_GB, Seconds(0.0007)}};
  EXPECT_EQ(arrivals_with(flows, kSlowLinkStar, {{0, 0.003, 0.004, 1.0}}),
            arrivals_with(flows, kSlowLinkStar, {}));
}

TEST(SlowLinks, ALinkThatStaysDownIsADeadlockWithItsName) {
  EXPECT_THROW(static_cast<void>(arrivals_with({{across(kSlowLinkStar, 0, 1), 1_GB}}, kSlowLinkStar,
                                               {{.link = 0, .bandwidth_factor = 0.0}})),
               InternalError);
}

}  // namespace
}  // namespace headway
