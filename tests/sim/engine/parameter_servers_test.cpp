// Servers at run time, on hand-made workloads whose times can be worked out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/programs/program_builder.h"
#include "tests/sim/engine/hand_workload.h"

namespace headway {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

/// Workers 0 to W-1 and servers W to W+S-1 of a star; each worker computes, pushes one key that the
/// servers share out, and waits for the parameters, in every round.
struct Job {
  int workers = 2;
  int servers = 1;
  int rounds = 1;
  std::vector<double> compute = {1.0};  ///< seconds, by worker; the last one for all others
  int blocks = 1;                       ///< that share out what a worker computes in a round
  double push = 0.0;                    ///< bytes to each server
  double pull = 0.0;
  double add_up = 0.0;
  double update = 0.0;
  Serving serving = {};
  bool skips = false;
  int ends_with = 0;
  bool settles = false;  ///< the timeline is that of the last round

  [[nodiscard]] Topology topology() const {
    return star(std::vector<Seconds>(static_cast<std::size_t>(workers + servers), Seconds(0.0)),
                BytesPerSecond(100.0));
  }

  [[nodiscard]] Timeline run(FlowEngine engine = FlowEngine::incremental) const {
    const Topology network = topology();
    Workload workload;
    workload.serving = serving;
    workload.iterations = settles ? rounds : 1;
    workload.ends_with = ends_with;
    for (int i = 0; i < workers; ++i) {
      ProgramBuilder builder("worker");
      const double seconds = compute[std::min(static_cast<std::size_t>(i), compute.size() - 1)];
      const auto block = builder.add_block("forward and backward",
                                           time_of(Cause::compute, Seconds(seconds / blocks)));
      for (int round = 0; round < rounds; ++round) {
        builder.begin_round();
        for (int part = 0; part < blocks; ++part) builder.compute(block);
        builder.pull(builder.push(0));
        if (skips) builder.advance();
      }
      workload.programs.push_back(std::move(builder).finished());
      workload.groups.push_back({.program = i, .replica = i, .accelerators = {i}});
    }
    for (int s = 0; s < servers; ++s) {
      Server& server = workload.servers.emplace_back();
      server.name = "server " + std::to_string(s);
      server.keys = {{Bytes(push), Bytes(pull), Seconds(add_up), Seconds(update)}};
      for (int i = 0; i < workers; ++i) {
        server.plans_here.push_back(static_cast<std::int32_t>(workload.plans.size()));
        workload.plans.push_back(across(network, i, workers + s));
        server.plans_back.push_back(static_cast<std::int32_t>(workload.plans.size()));
        workload.plans.push_back(across(network, workers + s, i));
      }
    }
    Timeline timeline = simulate_workload(workload, network, {}, {.flows = engine});
    EXPECT_EQ(simulated_times({{&workload, &network, {}}}, {.flows = engine}, 1).front(),
              timeline.finish);
    return timeline;
  }
};

double mean_staleness(const Timeline& timeline, double from) {
  double sum = 0.0;
  double count = 0.0;
  for (const Timeline::Update& update : timeline.updates) {
    if (update.time <= from) continue;
    sum += update.staleness;
    count += 1.0;
  }
  return sum / count;
}

// W workers push G/S bytes to each of S servers at once. A worker sends G bytes at its NIC's rate
// B, a server takes W G / S: the push takes max(1, W/S) G / B, whichever is narrower. The last
// pushes of all arrive together; then a server adds up the W of them one after the other, updates
// once, and all pull, which takes as long as the push did.
TEST(ParameterServers, SynchronousWorkersTakeTheAnalyticTime) {
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    for (const int workers : {1, 2, 3, 8}) {
      for (const int servers : {1, 2, 4, 8}) {
        const double gradients = 4800.0;
        const Job job{.workers = workers,
                      .servers = servers,
                      .rounds = 3,
                      .push = gradients / servers,
                      .pull = gradients / servers,
                      .add_up = 0.25,
                      .update = 0.5,
                      .serving = {.quorum = workers}};
        const double narrow = std::max(1.0, static_cast<double>(workers) / servers);
        const double travel = narrow * gradients / 100.0;
        const double round = 1.0 + travel + 0.25 * workers + 0.5 + travel;
        EXPECT_NEAR(job.run(engine).finish, 3.0 * round, 3e-9 * round)
            << workers << " workers, " << servers << " servers";
      }
    }
  }
}

// A worker pushes 400 bytes at 100 a second from 1 s on, from 3 s on beside another one, until 7 s,
// and pulls 100 until 8 s, with which the run ends. By then 200 + 100 bytes of the other have come.
TEST(ParameterServers, BytesThatTheEndCutsOffAreNotCounted) {
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    const Job job{.compute = {1.0, 3.0}, .push = 400.0, .pull = 100.0, .ends_with = 1};
    const Timeline timeline = job.run(engine);
    EXPECT_NEAR(timeline.finish, 8.0, 1e-8);
    EXPECT_THAT(timeline.plan_bytes, ElementsAre(DoubleNear(400.0, 1e-6), DoubleNear(100.0, 1e-6),
                                                 DoubleNear(300.0, 1e-6), DoubleNear(0.0, 1e-6)));
  }
}

/// Workers that compute 1, 2, 3 and 10 s, of which a round waits for three.
Job one_of_four_is_slow() {
  return {.workers = 4,
          .rounds = 7,
          .compute = {1.0, 2.0, 3.0, 10.0},
          .push = 0.001,
          .pull = 0.001,
          .serving = {.quorum = 3},
          .skips = true,
          .ends_with = 3};
}

// Computing 1, 2, 3 and 10 s with one backup: rounds last as the third fastest, 3 s. The slow
// worker is dropped after 10 s, in the fourth round (9 to 12), and begins the one that is under way
// again, the fourth, whose end at 12 s it does not meet either (20 s): it is dropped twice in 21 s.
TEST(ParameterServers, BackupWorkersAreNotWaitedFor) {
  const Job job = one_of_four_is_slow();
  const Timeline timeline = job.run();
  EXPECT_NEAR(timeline.finish, 21.0, 1e-3);
  EXPECT_EQ(timeline.served.front().taken, 21);
  EXPECT_EQ(timeline.served.front().dropped, 2);
  // Its first two rounds last until 10 and 20 s; the rounds before the fourth and the eighth's end
  // are skipped.
  EXPECT_NEAR(timeline.ends_of(3).front(), 10.0, 1e-3);
}

TEST(ParameterServers, WithoutBackupsTheSlowestSetsThePace) {
  const Job job{.workers = 4,
                .rounds = 7,
                .compute = {1.0, 2.0, 3.0, 10.0},
                .push = 0.001,
                .pull = 0.001,
                .serving = {.quorum = 4},
                .skips = true};
  const Timeline timeline = job.run();
  EXPECT_NEAR(timeline.finish, 70.0, 2e-3);
  EXPECT_EQ(timeline.served.front().dropped, 0);
}

// Identical workers take turns: between a worker's read and its own update every other one updates
// once, W - 1 in all; in the first round, where all read the same, the i-th finds i before it.
TEST(ParameterServers, IdenticalAsynchronousWorkersAreStaleByAllOthers) {
  for (const int workers : {1, 2, 5, 16}) {
    for (const int servers : {1, 3}) {
      const Job job{.workers = workers,
                    .servers = servers,
                    .rounds = 6,
                    .push = 10.0,
                    .pull = 10.0,
                    .update = 0.01};
      const Timeline timeline = job.run();
      ASSERT_EQ(std::ssize(timeline.updates), 6 * workers * servers);
      const double first_round =
          timeline.updates[static_cast<std::size_t>(workers * servers) - 1].time;
      EXPECT_DOUBLE_EQ(mean_staleness(timeline, first_round), workers - 1.0);
      std::vector<int> of_first;
      for (const Timeline::Update& update : timeline.updates) {
        if (update.server == 0 && update.time <= first_round) of_first.push_back(update.staleness);
      }
      std::vector<int> counting(static_cast<std::size_t>(workers));
      std::iota(counting.begin(), counting.end(), 0);
      EXPECT_EQ(of_first, counting);
    }
  }
}

// One worker alone: compute, push, update, pull, and nothing is ever stale. 1 + 2 + 0.5 + 1 s.
TEST(ParameterServers, ALoneWorkerIsNeverStale) {
  const Job job{.workers = 1, .rounds = 4, .push = 200.0, .pull = 100.0, .update = 0.5};
  const Timeline timeline = job.run();
  EXPECT_NEAR(timeline.finish, 4.0 * 4.5, 1e-9);
  for (const Timeline::Update& update : timeline.updates) EXPECT_EQ(update.staleness, 0);
  EXPECT_NEAR(timeline.served.front().busy, 2.0, 1e-12);
}

// A server that takes 1 s for each update of two workers computing 1 s is never idle once begun:
// 1 + 2 rounds 1 s each, so that the last update is at 1 + 2 x 5 s.
TEST(ParameterServers, ABusyServerTakesPushesOneAtATime) {
  const Job job{.workers = 2, .rounds = 5, .push = 1e-6, .pull = 1e-6, .update = 1.0};
  const Timeline timeline = job.run();
  EXPECT_NEAR(timeline.finish, 11.0, 1e-3);
  EXPECT_NEAR(timeline.served.front().busy, 10.0, 1e-9);
}

// Workers that compute 1 and 4 s. Without a bound the fast one is through its 8 rounds after 8 s.
// Ahead by no more than s rounds, it does s + 1 of them at once and one more for each of the slow
// one's, which end every 4 s: after 4 (8 - 1 - s) + 1 s it begins the last, if that is later.
TEST(ParameterServers, ABoundHoldsFastWorkersBack) {
  double before = 1e9;
  for (const int lead : {0, 1, 2, 3, 7, Serving::kAnyLead}) {
    const Job job{.workers = 2,
                  .rounds = 8,
                  .compute = {1.0, 4.0},
                  .push = 1e-6,
                  .pull = 1e-6,
                  .serving = {.lead = lead},
                  .ends_with = 1};
    const Timeline timeline = job.run();
    // With lead s the answer to push number c (from 1) waits until the slow one has c - s of them.
    double expected = 0.0;
    for (int push = 1; push <= 8; ++push) {
      expected = std::max(expected + 1.0, lead >= push ? 0.0 : 4.0 * (push - lead));
    }
    EXPECT_NEAR(timeline.finish, expected, 1e-3) << lead;
    EXPECT_LE(timeline.finish, before);
    before = timeline.finish;
  }
  EXPECT_NEAR(before, 8.0, 1e-3);
}

// The run ends with the first worker through; what others have not done by then ends with it.
TEST(ParameterServers, ARunMayEndBeforeAllAreThrough) {
  const Job job{
      .workers = 2, .rounds = 3, .compute = {1.0, 2.0}, .push = 1e-6, .pull = 1e-6, .ends_with = 1};
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    const Timeline timeline = job.run(engine);
    EXPECT_NEAR(timeline.finish, 3.0, 0.1);  // SimGrid's flows have a byte at least: 10 ms
    EXPECT_THAT(std::vector<double>(timeline.ends_of(1).begin(), timeline.ends_of(1).end()),
                ::testing::Each(::testing::Le(timeline.finish)));
    EXPECT_DOUBLE_EQ(timeline.ends_of(1).back(), timeline.finish);
    EXPECT_TRUE(std::isnan(timeline.messages_of(1)[2].arrived));
  }
}

// When the run ends, the second worker's push of 1,000 bytes is still on its way: what comes of it
// is no part of the run.
TEST(ParameterServers, WhatArrivesAfterTheEndOfARunIsNoPartOfIt) {
  const Job job{.workers = 2,
                .rounds = 2,
                .compute = {1.0, 15.0},
                .push = 1000.0,
                .pull = 1.0,
                .ends_with = 1};
  // The first worker pushes from 1 to 11 s and from about 12 s on; from 15 s on both share the
  // 100 bytes a second.
  std::vector<double> finish;
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    const Timeline timeline = job.run(engine);
    finish.push_back(timeline.finish);
    EXPECT_EQ(timeline.served.front().taken, 2);
    EXPECT_DOUBLE_EQ(timeline.ends_of(1).back(), timeline.finish);
  }
  EXPECT_NEAR(finish[0], finish[1], 1e-6);
}

// Two workers of a server that takes 1 s a push do one iteration each in 2 s, however long the
// first one took; with three servers, whose parts of a key come in at once, no longer.
TEST(LastIteration, IsThatOfWorkersThatHaveSettled) {
  for (const int servers : {1, 3}) {
    const Job job{.workers = 2,
                  .servers = servers,
                  .rounds = 16,
                  .push = 1e-6,
                  .pull = 1e-6,
                  .update = 1.0,
                  .ends_with = 1,
                  .settles = true};
    const Timeline timeline = job.run();
    EXPECT_NEAR(timeline.finish, 2.0, 1e-6);
    EXPECT_DOUBLE_EQ(timeline.ends_of(0).back(), timeline.finish);
    EXPECT_GE(timeline.ends_of(0).front(), 0.0);
    EXPECT_NEAR(timeline.served.front().busy, 2.0, 0.1);
    EXPECT_DOUBLE_EQ(mean_staleness(timeline, 0.0), 1.0);
  }
}

// Workers of 1 and 4 s do 1 + 1/4 iterations a second, so that both together do two in 1.6 s.
TEST(LastIteration, CountsWorkersOfDifferentPace) {
  const Job job{.workers = 2,
                .rounds = 16,
                .compute = {1.0, 4.0},
                .push = 1e-6,
                .pull = 1e-6,
                .ends_with = 1,
                .settles = true};
  EXPECT_NEAR(job.run().finish, 1.6, 1e-6);
}

// The run ends when the first worker is through with 16 rounds, at 16 s. By then one of 100 s has
// computed 3 of 20 parts in 15 s, so that it does 3/20/15 = 1/100 iterations a second: two in
// 2/1.01 s. Of one that has computed no part nothing is known.
TEST(LastIteration, CountsWorkersThatAreNotThroughWithOne) {
  Job job{.workers = 2,
          .rounds = 16,
          .compute = {1.0, 100.0},
          .blocks = 20,
          .push = 1e-6,
          .pull = 1e-6,
          .ends_with = 1,
          .settles = true};
  EXPECT_NEAR(job.run().finish, 2.0 / 1.01, 1e-6);
  job.blocks = 1;
  EXPECT_NEAR(job.run().finish, 2.0, 1e-6);
}

// Rounds of 1 s of work and 1 s of 100 bytes at 100 bytes/s. The second worker has computed all of
// its first one at 31.95 s; then 5 bytes of the first worker's last push are left, which take 0.1 s
// beside those of the second. That one has done less than one iteration in the 32.05 s.
TEST(LastIteration, WhoStillWaitsForServersHasDoneLessThanOne) {
  const Job job{.workers = 2,
                .rounds = 16,
                .compute = {1.0, 31.95},
                .push = 100.0,
                .pull = 1e-6,
                .ends_with = 1,
                .settles = true};
  EXPECT_NEAR(job.run().finish, 2.0 / (12.0 / (32.05 - 8.0) + 1.0 / 32.05), 1e-6);
}

// In step, an iteration is the run by their number: 7 rounds of 3 s, with the fourth worker's 10 s
// in none of them.
TEST(LastIteration, IsAShareOfARunInStep) {
  Job job = one_of_four_is_slow();
  job.settles = true;
  const Timeline timeline = job.run();
  EXPECT_NEAR(timeline.finish, 3.0, 1e-3);
  EXPECT_NEAR(timeline.ends_of(2).back(), 3.0, 1e-3);
}

// Two keys of 100 and 300 bytes pushed at once over 100 bytes/s: there after 1 and 4 s. Their
// answers of as many bytes begin then: the first is back after 2 s, the second after 7 s. What is
// under way for a while there and back is both, and each key: later by both ways, once.
TEST(ParameterServers, SeveralKeysFollowEachOtherOnAConnection) {
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    for (const double way : {0.0, 0.25, 10.0}) {
      const Topology network =
          star({Seconds(way / 2.0), Seconds(way / 2.0)}, BytesPerSecond(100.0));
      Workload workload;
      ProgramBuilder builder("worker");
      builder.begin_round();
      const auto first = builder.push(0);
      const auto second = builder.push(1);
      builder.pull(first);
      builder.pull(second);
      workload.programs.push_back(std::move(builder).finished());
      workload.groups.push_back({.accelerators = {0}});
      workload.plans = {across(network, 0, 1), across(network, 1, 0)};
      workload.servers.push_back(
          {.name = "server 0",
           .keys = {{Bytes(100.0), Bytes(100.0)}, {Bytes(300.0), Bytes(300.0)}},
           .plans_here = {0},
           .plans_back = {1}});
      const Timeline timeline = simulate_workload(workload, network, {}, {.flows = engine});
      EXPECT_THAT(std::vector<double>(timeline.ends_of(0).begin(), timeline.ends_of(0).end()),
                  ElementsAre(0.0, 0.0, DoubleNear(2.0 + 2.0 * way, 1e-8),
                              DoubleNear(7.0 + 2.0 * way, 1e-8)));
    }
  }
}

}  // namespace
}  // namespace headway
