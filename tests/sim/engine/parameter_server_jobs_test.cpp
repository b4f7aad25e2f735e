// Jobs of parameter servers as they are built, against what their numbers say they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/layers/parameters.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/server_layout.h"
#include "sim/result/server_use.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/served_by.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

constexpr double kMemory = 1e6;  ///< of a server, so slow that its work shows
constexpr double kServerNic = 1e6;
constexpr double kPath = 2e-6;  ///< two cables

/// What travels: all but the scales of the norm in front of the head, which no exchange counts.
double learned(const Model& model) {
  return parameters(model).total() - parameters(model.last).of(Part::normalization);
}

/// Workers of one accelerator each, and servers apart, around one switch.
struct ServedRun {
  int workers = 4;
  int servers = 2;
  ServerPlan how = {};
  std::vector<double> slow = {};  ///< time factors of the first workers
  ServerHosts hosts = ServerHosts::apart;
  std::optional<double> host_link = {};  ///< of an accelerator and its host
  double bucket = 1e9;                   ///< bytes of gradients that travel together

  Model model = thousand_parameter_layers(4, 10);

  [[nodiscard]] BuiltWorkload built(const Cluster& cluster) const {
    Strategy strategy{.data_parallel = workers, .global_batch = workers, .sequence_length = 64};
    strategy.gradient_bucket = Bytes(bucket);
    ServerPlan plan = how;
    plan.servers = servers;
    plan.hosts = hosts;
    strategy.synchronisation = served_by(plan);
    Profile profile = round_profile();
    profile.device.host_memory_bandwidth = estimate(kMemory);
    if (host_link) profile.device.host_bandwidth = estimate(*host_link);
    return build_workload({model, strategy, profile, cluster, {.data = workers}, std::nullopt});
  }
  struct Outcome {
    Timeline timeline;
    ServerUse use;
    double work = 0.0;  ///< of a worker
  };
  [[nodiscard]] Outcome run(Perturbation perturbation = {}) const {
    const auto cluster =
        cluster_of(ClusterText{.nodes = workers + servers, .nic_bandwidth = "1 MB/s"}.text());
    const BuiltWorkload job = built(*cluster);
    for (std::size_t i = 0; i < slow.size(); ++i) {
      perturbation.slow_accelerators[static_cast<int>(i)] = slow[i];
    }
    Outcome outcome;
    outcome.timeline = simulate_workload(job.workload, cluster->topology, perturbation);
    outcome.use = server_use(job.workload, outcome.timeline);
    const Program& program = job.workload.programs.front();
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::compute) continue;
      outcome.work +=
          program.blocks[static_cast<std::size_t>(operation.block)].time.total().count();
    }
    outcome.work /= job.workload.iterations;
    return outcome;
  }
};

// W workers push N/S gradients of 4 bytes to each of S servers and pull 2 bytes of each: at their
// NICs N bytes leave a worker and W N / S reach a server, whichever is more. All pushes end
// together; then a server adds up W times 12 bytes and updates 30 of each of its N/S parameters.
TEST(ParameterServerJobs, SynchronousStepsTakeWhatTheirNumbersSay) {
  for (const int workers : {1, 2, 4, 7}) {
    for (const int servers : {1, 2, 4}) {
      const ServedRun job{.workers = workers, .servers = servers};
      const auto outcome = job.run();
      const double held = learned(job.model) / servers;
      const double narrow = std::max(workers, servers);
      const double expected = outcome.work + 2.0 * kPath +
                              narrow * held * (4.0 + 2.0) / kServerNic +
                              held * (12.0 * workers + 30.0) / kMemory;
      EXPECT_NEAR(outcome.timeline.finish, expected, 1e-9 * expected)
          << workers << " workers, " << servers << " servers";
      EXPECT_NEAR(outcome.use.idle_share, 1.0 - outcome.work / expected, 1e-9);
      EXPECT_NEAR(outcome.use.hottest_busy, held * (12.0 * workers + 30.0) / kMemory / expected,
                  1e-9);
    }
  }
}

// A round of federated averaging waits for the slowest mean of its local steps: what that is beyond
// the mean of all is a tenth in rounds of 400 steps of what it is in rounds of 4.
TEST(ParameterServerJobs, LongerRoundsAverageWhatOperationsDifferBy) {
  const auto waited = [](int steps) {
    ServedRun job{.workers = 16, .how = {.push_every = steps}};
    const auto even = job.run();
    constexpr double kSigma = 0.2;
    constexpr int kSeeds = 60;
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      sum += job.run({.seed = seed, .jitter = {.spread = kSigma}}).timeline.finish / kSeeds;
    }
    return sum - even.timeline.finish - std::expm1(kSigma * kSigma / 2.0) * even.work;
  };
  EXPECT_NEAR(waited(4) / waited(400), 10.0, 1.5);
}

// A worker of a node of one accelerator, its server on the same: nothing crosses a NIC, and no
// scale-up link is there; N parameters go to the host with 4 bytes and come back with 2 over the
// link between both.
TEST(ParameterServerJobs, AServerAtHomeIsBehindTheLinkOfItsHost) {
  constexpr double kHostLink = 2e6;
  const ServedRun job{
      .workers = 1, .servers = 1, .hosts = ServerHosts::beside, .host_link = kHostLink};
  const auto outcome = job.run();
  const double held = learned(job.model);
  const double expected =
      outcome.work + held * (4.0 + 2.0) / kHostLink + held * (12.0 + 30.0) / kMemory;
  EXPECT_NEAR(outcome.timeline.finish, expected, 1e-9 * expected);
}

TEST(ParameterServerJobs, AlikeAsynchronousWorkersAreStaleByAllOthers) {
  for (const int workers : {1, 2, 5, 8}) {
    const ServedRun job{.workers = workers, .servers = 2, .how = {.asynchronous = true}};
    const ServerUse use = job.run().use;
    EXPECT_NEAR(use.mean_staleness, workers - 1.0, 1e-9);
    ASSERT_EQ(std::ssize(use.staleness), workers);
    EXPECT_NEAR(use.staleness.back(), 1.0, 1e-9);
  }
}

// A worker and a server, each with a NIC of its own: a step takes its work, and of a push, its
// update and its answer an H-th: 2 paths, N (4 + 2) bytes at the NIC, 30 in memory. A worker
// also updates its own parameters. W alike ones stay stale by W - 1 updates, whatever H.
TEST(ParameterServerJobs, WorkersThatPushSeldomWaitSeldom) {
  const ServedRun always{.workers = 1, .servers = 1, .how = {.asynchronous = true}};
  for (const int every : {1, 2, 10, 500}) {
    ServedRun job = always;
    job.how.push_every = every;
    const auto outcome = job.run();
    const double n = learned(job.model);
    const double push = 2.0 * kPath + n * 6.0 / kServerNic + n * 30.0 / kMemory;
    const double expected = outcome.work + push / every;
    EXPECT_NEAR(outcome.timeline.finish, expected, 1e-9 * expected) << every;
    EXPECT_EQ(outcome.work > always.run().work, every > 1);
  }
  const ServedRun four{.servers = 2, .how = {.asynchronous = true, .push_every = 20}};
  EXPECT_NEAR(four.run().use.mean_staleness, 3.0, 1e-9);
}

// A federated round of H local steps: up and down, bits a parameter and links are each their own.
// W clients share a server's NIC, S servers a client's link: N a/8 bytes leave a client at
// min(uplink, S B / W), N b/8 come back at min(downlink, S B / W). Each server adds up what W
// clients pushed of N/S parameters, 4 + a/8 + 4 bytes, and updates once, 28 + b/8. All but the H
// steps is there once in H of them.
TEST(ParameterServerJobs, FederatedRoundsTakeWhatTheirLinksAndBitsSay) {
  constexpr double kUp = 2e5;
  constexpr double kDown = 5e5;
  for (const int workers : {1, 4, 7}) {
    for (const int servers : {1, 2}) {
      for (const int every : {2, 20}) {
        ServedRun job{.workers = workers, .servers = servers};
        job.bucket = 4e3;  // several, which a round sends as one
        job.how.push_every = every;
        job.how.push_bits = 27.68;
        job.how.pull_bits = 8.0;
        job.how.uplink = BytesPerSecond(kUp);
        job.how.downlink = BytesPerSecond(kDown);
        const auto outcome = job.run();
        const double n = learned(job.model);
        const double meeting = kServerNic * servers / workers;
        const double push = n * 3.46 / std::min(kUp, meeting);
        const double pull = n * 1.0 / std::min(kDown, meeting);
        const double served = n / servers * (11.46 * workers + 29.0) / kMemory;
        const double expected = outcome.work + (2.0 * kPath + push + served + pull) / every;
        EXPECT_NEAR(outcome.timeline.finish, expected, 1e-9 * expected)
            << workers << " clients, " << servers << " servers, " << every << " steps";
      }
    }
  }
}

// Of five clients, the first Q compute 1, 2, .. Q times as long as the fastest and the others a
// hundred times: a round that takes Q reports lasts as the Q-th, whose push finds the others'
// taken; then all Q pull at once.
TEST(ParameterServerJobs, ARoundLastsAsTheSlowestClientThatItTakes) {
  constexpr int kClients = 5;
  constexpr double kSteps = 1000.0;
  for (int taken = 1; taken <= kClients; ++taken) {
    ServedRun job{.workers = kClients, .servers = 1};
    job.how.push_every = static_cast<int>(kSteps);
    job.how.backup_workers = kClients - taken;
    for (int client = 1; client <= kClients; ++client) {
      job.slow.push_back(client <= taken ? client : 100.0);
    }
    const auto outcome = job.run();
    const double n = learned(job.model);
    const double exchange = 2.0 * kPath + n * 4.0 / kServerNic + n * (12.0 + 30.0) / kMemory +
                            taken * n * 2.0 / kServerNic;
    ASSERT_GT(outcome.work, exchange / kSteps);  // pushes do not meet
    const double expected = taken * outcome.work + exchange / kSteps;
    EXPECT_NEAR(outcome.timeline.finish, expected, 1e-9 * expected) << taken << " taken";
  }
}

// Of four workers without a bound one takes three times as long over its work w: with nothing to
// wait for, all do 3 1/3 iterations in a w, so that an iteration takes 1.2 w. Three work all of it,
// the fourth loses two thirds of it.
TEST(ParameterServerJobs, TheTimeOfAsynchronousWorkersIsThatOfTheAverageOne) {
  ServedRun job{.servers = 4, .how = {.asynchronous = true}, .slow = {1.0, 3.0}};
  job.how.push_every = 100'000;
  const auto outcome = job.run();
  const TimeByCause& time = outcome.timeline.average_worker;
  const double whole = outcome.timeline.finish;
  EXPECT_NEAR(whole, 1.2 * outcome.work, 2e-3 * whole);
  EXPECT_NEAR(time.total().count(), whole, 1e-9 * whole);
  EXPECT_NEAR(time[Cause::straggler_wait].count(), whole / 4.0 * 2.0 / 3.0, 1e-3 * whole);
}

// The looser the bound, the less workers wait for a slow one; the more stale are their updates.
TEST(ParameterServerJobs, LooserBoundsAreNeverSlower) {
  double time = 1e9;
  double idle = 1.0;
  for (const int bound : {0, 1, 2, 4, 8}) {
    const ServedRun job{.workers = 4,
                        .servers = 4,
                        .how = {.asynchronous = true, .staleness_bound = bound},
                        .slow = {4.0}};
    const auto outcome = job.run();
    EXPECT_LE(outcome.timeline.finish, time * (1.0 + 1e-9)) << bound;
    EXPECT_LE(outcome.use.idle_share, idle + 1e-9) << bound;
    time = outcome.timeline.finish;
    idle = outcome.use.idle_share;
  }
}

// Ho et al. 2013: in the end all have the pace of the slowest, whatever the bound.
TEST(ParameterServerJobs, NoBoundOutlastsAWorkerThatIsSlowForGood) {
  for (const int bound : {1, 5, 10, 1000}) {
    for (const double slow : {300.0, 1000.0}) {  // what it computes is nearly all of its time
      const ServedRun job{.workers = 4,
                          .servers = 4,
                          .how = {.asynchronous = true, .staleness_bound = bound},
                          .slow = {1.0, slow}};
      const auto outcome = job.run();
      const ServedRun alone{
          .workers = 1, .servers = 4, .how = {.asynchronous = true}, .slow = {slow}};
      const double of_slowest = alone.run().timeline.finish;
      EXPECT_NEAR(outcome.timeline.finish, of_slowest, 0.05 * of_slowest) << bound << " " << slow;
    }
  }
}

// So have they where nothing is wrong with its device but a slow episode without end, or its way to
// the servers.
TEST(ParameterServerJobs, NoBoundOutlastsAWorkerThatIsSlowInAnotherWay) {
  const ServedRun job{
      .workers = 4, .servers = 4, .how = {.asynchronous = true, .staleness_bound = 1000}};
  const Perturbation slow{.slow_episodes = {{.accelerators = {1, 1}, .time_factor = 300.0}}};
  const ServedRun listed{.workers = 4, .servers = 4, .how = job.how, .slow = {1.0, 300.0}};
  const double of_listed = listed.run().timeline.finish;
  EXPECT_NEAR(job.run(slow).timeline.finish, of_listed, 0.01 * of_listed);

  const auto cluster = cluster_of(ClusterText{.nodes = 8, .nic_bandwidth = "1 MB/s"}.text());
  const BuiltWorkload built = job.built(*cluster);
  const auto with_narrow_way = [&](Workload workload) {
    for (const Server& server : workload.servers) {
      FlowPlan& way = workload.plans[static_cast<std::size_t>(server.plans_here[1])];
      way.rate_cap = BytesPerSecond(100.0);
    }
    return simulate_workload(workload, cluster->topology, {}).finish;
  };
  // What it pushes, N/4 gradients of 4 bytes to each server at the same time.
  EXPECT_NEAR(with_narrow_way(built.workload), learned(job.model) / 100.0,
              0.05 * learned(job.model) / 100.0);
}

TEST(ParameterServerJobs, ABackupTakesThePlaceOfASlowWorker) {
  const std::vector<double> slow = {50.0};
  const double all = ServedRun{.workers = 4, .servers = 4, .slow = slow}.run().timeline.finish;
  const auto three =
      ServedRun{.workers = 4, .servers = 4, .how = {.backup_workers = 1}, .slow = slow}.run();
  EXPECT_LT(three.timeline.finish, all);
  EXPECT_GT(three.use.dropped_share, 0.0);
  EXPECT_LE(three.use.dropped_share, 0.25);  // of four workers, the one
}

}  // namespace
}  // namespace headway
