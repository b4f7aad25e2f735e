#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/support/random_job.h"

namespace headway {
namespace {

constexpr std::uint64_t kMonotoneJobs = 500;
constexpr int kDraws = 3;
/// Where flows share links, a delay may take a competitor out of somebody's way, so that single
/// iterations do get a little faster now and then (Graham 1969, of schedules in general).
constexpr double kAnomaly = 0.01;

/// The median of a few draws; of one where all are the same.
double median_time(const RandomJob& job, const Workload& workload,
                   const Perturbation& perturbation) {
  std::vector<SimulationTask> tasks;
  const int draws = perturbation.random() ? kDraws : 1;
  for (int i = 0; i < draws; ++i) {
    tasks.push_back({&workload, &job.cluster->topology, perturbation});
    tasks.back().perturbation.seed += static_cast<std::uint64_t>(i);
  }
  std::vector<double> times = simulated_times(tasks, {}, 2);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Half of what a NIC carries, from the first accelerator of one node to that of another.
FlowPlan traffic(const Cluster& cluster, int from, int to) {
  const NodeType& node = cluster.node_type;
  FlowPlan plan = transfer_plan(cluster, ideal_network_costs(node),
                                std::array{static_cast<std::int32_t>(from * node.accelerators)},
                                std::array{static_cast<std::int32_t>(to * node.accelerators)});
  plan.rate_cap = min(plan.rate_cap, 0.5 * node.nic_bandwidth);
  return plan;
}

/// Something of every kind that does nothing.
Perturbation idle_perturbation() {
  Perturbation idle;
  idle.jitter = {.kind = Jitter::Kind::exponential, .spread = 0.0};
  idle.micro_batches = {.kind = Jitter::Kind::gamma, .spread = 0.0};
  idle.slow_accelerators = {{0, 1.0}};
  idle.slow_episodes = {{.accelerators = {0, 1000}, .from = 0.1, .to = 0.5, .time_factor = 1.0}};
  idle.link_episodes = {{.link = 0, .from = 0.1, .to = 0.2, .bandwidth_factor = 1.0}};
  return idle;
}

TEST(Monotone, MoreJitterASlowerNodeAndAWorseLinkNeverHelp) {
  for (std::uint64_t seed = 1; seed <= kMonotoneJobs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomJob job = random_job(seed);
    const Workload workload = job.workload();
    const double nominal = median_time(job, workload, {});
    EXPECT_EQ(median_time(job, workload, idle_perturbation()), nominal);  // to the last bit

    Perturbation worse;
    worse.seed = seed;
    double before = nominal;
    const auto expect_no_better = [&](const char* what) {
      const double now = median_time(job, workload, worse);
      EXPECT_GE(now, before * (1.0 - kAnomaly)) << what;
      EXPECT_GE(now, nominal * (1.0 - kAnomaly)) << what;
      before = now;
    };
    worse.jitter = {.kind = Jitter::Kind::exponential, .spread = 0.02};
    expect_no_better("some jitter");
    worse.jitter.spread = 0.1;
    expect_no_better("more jitter");
    const int accelerators = job.cluster->node_type.accelerators;
    for (int i = 0; i < accelerators; ++i) worse.slow_accelerators[i] = 1.2;
    expect_no_better("a slow node");
    for (int i = 0; i < accelerators; ++i) worse.slow_accelerators[i] = 1.5;
    expect_no_better("a slower node");
    const VertexId nic = job.cluster->endpoints[0];
    for (const LinkId link : job.cluster->topology.links_from(nic)) {
      worse.link_episodes.push_back({.link = link, .bandwidth_factor = 0.5});
      worse.link_episodes.push_back({.link = Topology::reverse(link), .bandwidth_factor = 0.5});
    }
    expect_no_better("a slow cable");
    for (LinkEpisode& episode : worse.link_episodes) episode.bandwidth_factor = 0.2;
    expect_no_better("a slower cable");
    worse.micro_batches = {.kind = Jitter::Kind::exponential, .spread = 0.05};
    expect_no_better("micro-batches that differ");
    if (job.cluster->nodes > 1) {
      worse.background.push_back({traffic(*job.cluster, 0, 1), 0.0});
      expect_no_better("traffic of others");
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace headway
