#include "sim/programs/server_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/layers/parameters.h"
#include "sim/programs/build_workload.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/served_by.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Four workers of one accelerator each and two servers beside them; the host's memory moves 1
/// GB/s.
class ParameterServerJob : public testing::Test {
 protected:
  ParameterServerJob() {
    model = thousand_parameter_layers(4, 10);
    strategy.data_parallel = 4;
    strategy.global_batch = 4;
    strategy.sequence_length = 64;
    strategy.gradient_bucket = Bytes(1e9);
    profile.device.host_memory_bandwidth = estimate(1e9);
  }

  [[nodiscard]] Workload built() const {
    Strategy served = strategy;
    served.synchronisation = served_by(by);
    return build_workload({model,
                           served,
                           profile,
                           *cluster_of(cluster.text()),
                           {.data = strategy.data_parallel},
                           std::nullopt})
        .workload;
  }
  /// That travel: all but the scales of the norm in front of the head, which no exchange counts.
  [[nodiscard]] double all_parameters() const {
    return parameters(model).total() - parameters(model.last).of(Part::normalization);
  }
  [[nodiscard]] static std::vector<OperationKind> kinds(const Program& program) {
    std::vector<OperationKind> kinds;
    for (const Operation& operation : program.operations) kinds.push_back(operation.kind);
    return kinds;
  }
  /// Of the NICs that the plan of a worker's pushes leaves and reaches: links 2 i and 2 i + 1 of a
  /// switch are those of NIC i.
  [[nodiscard]] static std::vector<LinkId> links(const Workload& workload, std::int32_t plan) {
    std::vector<LinkId> ids;
    for (const LinkLoad& load : workload.plans[static_cast<std::size_t>(plan)].links) {
      ids.push_back(load.link);
    }
    return ids;
  }

  Model model;
  Strategy strategy;
  ServerPlan by = {.servers = 2};
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 4};
};

TEST_F(ParameterServerJob, EveryServerHoldsAnEqualPartOfEveryKey) {
  const Workload workload = built();
  ASSERT_EQ(workload.groups.size(), 4U);
  ASSERT_EQ(workload.servers.size(), 2U);
  EXPECT_EQ(workload.servers[1].name, "server 1");
  EXPECT_THAT(workload.communicators, IsEmpty());
  const double half = all_parameters() / 2.0;
  for (const Server& server : workload.servers) {
    ASSERT_EQ(server.keys.size(), 1U);
    const ServedKey& key = server.keys.front();
    EXPECT_DOUBLE_EQ(key.push.count(), 4.0 * half);  // gradients in fp32
    EXPECT_DOUBLE_EQ(key.pull.count(), 2.0 * half);  // parameters in bf16
    // The fp32 sum is read and written beside the gradient; Adam's 28 bytes, and the copy.
    EXPECT_DOUBLE_EQ(key.add_up.count(), 12.0 * half / 1e9);
    EXPECT_DOUBLE_EQ(key.update.count(), 30.0 * half / 1e9);
  }
}

TEST_F(ParameterServerJob, AWorkerPushesWhatItHasAndWaitsForAll) {
  using enum OperationKind;
  strategy.overlap_gradient_reduce = false;
  strategy.global_batch = 8;  // two micro-batches
  const Workload workload = built();
  EXPECT_EQ(workload.iterations, 1);
  EXPECT_EQ(workload.serving.quorum, 4);
  EXPECT_EQ(workload.ends_with, 0);
  EXPECT_THAT(kinds(workload.programs.front()),
              ElementsAre(compute, compute, compute, compute, push, pull, compute));
}

// A layer each: the last one's gradients are ready first, and the embedding's with the first's.
TEST_F(ParameterServerJob, BucketsArePushedAsTheyAreReady) {
  using enum OperationKind;
  strategy.gradient_bucket = Bytes(0.0);
  const Workload workload = built();
  const Program& program = workload.programs.front();
  EXPECT_THAT(kinds(program), ElementsAre(compute, compute, push, compute, push, compute, push,
                                          compute, push, pull, pull, pull, pull, compute));
  std::vector<int> keys;
  for (const Operation& operation : program.operations) {
    if (operation.kind == push) keys.push_back(operation.path);
  }
  EXPECT_THAT(keys, ElementsAre(3, 2, 1, 0));
  double pushed = 0.0;
  for (const Server& server : workload.servers) {
    for (const ServedKey& key : server.keys) pushed += key.push.count();
  }
  EXPECT_DOUBLE_EQ(pushed, 4.0 * all_parameters());
}

// Not while the backward pass runs where that is not asked for, or where a worker learns in several
// steps what it pushes: then all of it is one key.
TEST_F(ParameterServerJob, BucketsWaitForTheWholeBackwardPass) {
  using enum OperationKind;
  strategy.gradient_bucket = Bytes(0.0);
  for (const int every : {1, 4}) {
    strategy.overlap_gradient_reduce = every > 1;
    by.push_every = every;
    const std::vector<OperationKind> order = kinds(built().programs.front());
    const auto first = std::ranges::find(order, push);
    const auto behind = std::find(first, order.end(), pull);
    const std::ptrdiff_t keys = every > 1 ? 1 : 4;
    EXPECT_EQ(behind - first, keys) << every;
    EXPECT_EQ(std::count(first, behind, push), keys) << every;
  }
}

TEST_F(ParameterServerJob, AsynchronousWorkersRunUntilTheFirstIsThrough) {
  by.asynchronous = true;
  const Workload workload = built();
  EXPECT_EQ(workload.serving.quorum, 0);
  EXPECT_EQ(workload.serving.lead, Serving::kAnyLead);
  EXPECT_EQ(workload.ends_with, 1);
  EXPECT_EQ(workload.iterations, kIterationsOutOfStep);
  const Program& program = workload.programs.front();
  EXPECT_EQ(std::ssize(program.rounds), kIterationsOutOfStep);
  EXPECT_EQ(std::ranges::count(program.operations, OperationKind::advance, &Operation::kind), 0);
  by.staleness_bound = 3;
  EXPECT_EQ(built().serving.lead, 3);
}

TEST_F(ParameterServerJob, BackupsAreNotPartOfTheQuorum) {
  by.backup_workers = 1;
  const Workload workload = built();
  EXPECT_EQ(workload.serving.quorum, 3);
  EXPECT_EQ(workload.ends_with, 3);
  const Program& program = workload.programs.front();
  EXPECT_EQ(std::ranges::count(program.operations, OperationKind::advance, &Operation::kind),
            kIterationsOutOfStep);
  // Rounds are numbered, so that a server knows what comes too late.
  std::vector<int> rounds;
  for (const Operation& operation : program.operations) {
    if (operation.kind == OperationKind::push) rounds.push_back(operation.way);
  }
  ASSERT_EQ(std::ssize(rounds), kIterationsOutOfStep);
  EXPECT_EQ(rounds.front(), 0);
  EXPECT_EQ(rounds.back(), kIterationsOutOfStep - 1);
}

TEST_F(ParameterServerJob, ServersBesideAreSpreadOverTheNodes) {
  // On nodes 0 and 2 of four: a push of worker 1 goes out by its NIC and in at theirs.
  const Workload workload = built();
  EXPECT_THAT(links(workload, workload.servers[0].plans_here[0]), IsEmpty());
  EXPECT_THAT(links(workload, workload.servers[0].plans_here[1]), ElementsAre(1, 2));
  EXPECT_THAT(links(workload, workload.servers[1].plans_here[1]), ElementsAre(2, 5));
  EXPECT_THAT(links(workload, workload.servers[1].plans_back[1]), ElementsAre(3, 4));
}

TEST_F(ParameterServerJob, ServersOfOneHostShareItsMemory) {
  by.servers = 8;  // two on each of four nodes
  const Workload workload = built();
  EXPECT_DOUBLE_EQ(workload.servers[5].keys[0].update.count(),
                   30.0 * all_parameters() / 8.0 / 0.5e9);
}

TEST_F(ParameterServerJob, ServersApartStandBehindTheJob) {
  cluster.nodes = 6;
  by.hosts = ServerHosts::apart;
  const Workload workload = built();
  EXPECT_THAT(links(workload, workload.servers[0].plans_here[0]), ElementsAre(0, 9));
  EXPECT_THAT(links(workload, workload.servers[1].plans_here[3]), ElementsAre(6, 11));
}

TEST_F(ParameterServerJob, AtHomeTheLinkOfTheHostIsTheLimit) {
  profile.device.host_bandwidth = estimate(7e9);
  const Workload workload = built();
  const auto rate = [&](std::int32_t plan) {
    return workload.plans[static_cast<std::size_t>(plan)].rate_cap.count();
  };
  EXPECT_EQ(rate(workload.servers[0].plans_here[0]), 7e9);
  EXPECT_EQ(rate(workload.servers[0].plans_back[1]), 7e9);
}

TEST_F(ParameterServerJob, AtHomeTheScaleUpFabricIsWhereNothingIsKnownOfTheHost) {
  const Workload workload = built();
  const auto plan = static_cast<std::size_t>(workload.servers[0].plans_here[0]);
  EXPECT_EQ(workload.plans[plan].rate_cap.count(), 400e9);
}

// Two nodes of two accelerators with a NIC each: two workers, each accelerator of which pushes half
// of the sum that both made over the scale-up fabric of 400 GB/s: 2 x 1/2 of the gradients, and two
// steps of 0 s by the profile.
TEST_F(ParameterServerJob, AcceleratorsOfADomainAddUpFirst) {
  cluster = {.nodes = 2, .accelerators = 2, .nics = 2};
  by.local_reduction = true;
  const Workload workload = built();
  ASSERT_EQ(workload.groups.size(), 2U);
  EXPECT_THAT(workload.groups[1].accelerators, ElementsAre(2, 3));
  EXPECT_EQ(workload.ranks_per_group, 2);
  EXPECT_EQ(workload.serving.quorum, 2);
  EXPECT_DOUBLE_EQ(workload.servers[0].keys[0].push.count(), 4.0 * all_parameters() / 4.0);
  // A host has the memory of both its accelerators.
  EXPECT_DOUBLE_EQ(workload.servers[0].keys[0].update.count(), 30.0 * all_parameters() / 2.0 / 2e9);
  const auto& blocks = workload.programs.front().blocks;
  const auto block = std::ranges::find(blocks, "local reduce", &Block::name);
  ASSERT_NE(block, blocks.end());
  EXPECT_NEAR(block->time[Cause::data_parallel_exposed].count(), 4.0 * all_parameters() / 400e9,
              1e-15);
  // Rail by rail: both NICs of node 1 send to those of node 0, where server 0 stands.
  EXPECT_THAT(links(workload, workload.servers[0].plans_here[1]), ElementsAre(1, 3, 4, 6));
}

// Beside eight accelerators a domain, twelve ranks are workers of four: a divisor of both.
TEST_F(ParameterServerJob, WorkersAreEquallyLarge) {
  cluster = {.nodes = 2, .accelerators = 8, .nics = 8};
  strategy.data_parallel = 12;
  strategy.synchronisation = served_by({});
  EXPECT_EQ(accelerators_of_worker(strategy, *cluster_of(cluster.text())), 1);
  strategy.synchronisation = served_by({.local_reduction = true});
  EXPECT_EQ(accelerators_of_worker(strategy, *cluster_of(cluster.text())), 4);
}

// Of a period of four steps an iteration has a quarter: of what travels, of the servers' work and
// of the latency; a worker updates its own parameters in each.
TEST_F(ParameterServerJob, WorkersMayPushAfterStepsOfTheirOwn) {
  using enum OperationKind;
  const Workload often = built();
  by.push_every = 4;
  const Workload seldom = built();
  const ServedKey& each = often.servers[0].keys[0];
  const ServedKey& quarter = seldom.servers[0].keys[0];
  EXPECT_DOUBLE_EQ(quarter.push.count(), each.push.count() / 4.0);
  EXPECT_DOUBLE_EQ(quarter.pull.count(), each.pull.count() / 4.0);
  EXPECT_DOUBLE_EQ(quarter.add_up.count(), each.add_up.count() / 4.0);
  EXPECT_DOUBLE_EQ(quarter.update.count(), each.update.count() / 4.0);
  const auto latency = [](const Workload& workload) {
    const std::int32_t plan = workload.servers[0].plans_here[1];
    return workload.plans[static_cast<std::size_t>(plan)].latency.count();
  };
  EXPECT_GT(latency(often), 0.0);
  EXPECT_DOUBLE_EQ(latency(seldom), latency(often) / 4.0);
  const Program& program = seldom.programs.front();
  EXPECT_THAT(kinds(program), ElementsAre(compute, compute, compute, push, pull, compute));
  const auto update = std::ranges::find(program.blocks, "local update", &Block::name);
  ASSERT_NE(update, program.blocks.end());
  EXPECT_GT(update->time[Cause::optimizer], 0_s);
}

TEST_F(ParameterServerJob, BitsAndConnectionsMayBeTheClients) {
  by.push_bits = 8.0;
  by.pull_bits = 4.0;
  by.uplink = 1_GBps;
  by.downlink = 3_GBps;
  const Workload workload = built();
  const ServedKey& key = workload.servers[0].keys[0];
  const double half = all_parameters() / 2.0;
  EXPECT_DOUBLE_EQ(key.push.count(), half);
  EXPECT_DOUBLE_EQ(key.pull.count(), half / 2.0);
  EXPECT_DOUBLE_EQ(key.add_up.count(), (8.0 + 1.0) * half / 1e9);
  EXPECT_DOUBLE_EQ(key.update.count(), (28.0 + 0.5) * half / 1e9);
  // Each of two servers has its part of a connection.
  const auto cap = [&](std::int32_t plan) {
    return workload.plans[static_cast<std::size_t>(plan)].rate_cap;
  };
  EXPECT_EQ(cap(workload.servers[0].plans_here[1]), 0.5_GBps);
  EXPECT_EQ(cap(workload.servers[0].plans_back[1]), 1.5_GBps);
}

}  // namespace
}  // namespace headway
