// The recurrence of the closed form, on programs of a few operations whose ends are known.
#include <gtest/gtest.h>

#include <array>

#include "sim/programs/closed_form.h"

namespace headway {
namespace {

constexpr double kFast = 1e6;

Block block(double seconds, Cause cause = Cause::compute) {
  Block made{"block", {}};
  made.time[cause] = Seconds(seconds);
  return made;
}
Operation compute(std::int32_t which) { return {.kind = OperationKind::compute, .block = which}; }
Operation join(std::int32_t path, std::int32_t slot, double bytes, double at_least = 0.0) {
  return {.kind = OperationKind::join,
          .path = path,
          .slot = slot,
          .amount = Bytes(bytes),
          .at_least = Seconds(at_least)};
}
Operation wait(std::int32_t slot) { return {.kind = OperationKind::wait, .slot = slot}; }

/// 1 MB/s, half a second until the first byte.
FlowPlan plan(double latency = 0.5) {
  return {.latency = Seconds(latency), .rate_cap = BytesPerSecond(kFast)};
}

double time_of(const Workload& workload, std::span<const double> slowdowns = {}) {
  return closed_form_time(workload, Topology(), slowdowns).count();
}
double waiting_of(const Workload& workload, std::int32_t group) {
  return nominal_waiting(workload, Topology(), group).count();
}

/// The first stage computes 1 s, sends 3 MB, computes 2 s; the second takes them and computes 1 s.
Workload sender_and_receiver(bool blocking) {
  Workload made;
  made.plans = {plan()};
  made.programs = {{.name = "first",
                    .blocks = {block(1.0), block(2.0)},
                    .operations = {compute(0),
                                   {.kind = OperationKind::send,
                                    .blocking = blocking,
                                    .peer = 1,
                                    .path = 0,
                                    .slot = 0,
                                    .amount = Bytes(3e6)},
                                   compute(1)}},
                   {.name = "second",
                    .blocks = {block(1.0)},
                    .operations = {{.kind = OperationKind::receive, .slot = 0}, compute(0)},
                    .message_slots = 1}};
  made.groups = {{.program = 0, .stage = 0, .paths = {0}},
                 {.program = 1, .stage = 1, .paths = {0}}};
  return made;
}

TEST(Recurrence, AMessageTakesItsLatencyAndItsBytes) {
  // Arrives at 1 + 0.5 + 3.
  const Workload workload = sender_and_receiver(false);
  EXPECT_DOUBLE_EQ(time_of(workload), 5.5);
  // The second stage waits 1 s until the bytes set out, which is no waiting; the first one, done
  // at 3, for the end.
  EXPECT_DOUBLE_EQ(waiting_of(workload, 1), 1.0);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 0), 2.5);
}

TEST(Recurrence, ABlockingSenderGoesOnWhenItHasArrived) {
  EXPECT_DOUBLE_EQ(time_of(sender_and_receiver(true)), 4.5 + 2.0);
}

TEST(Recurrence, SlowStagesTakeLongerAtWhatTheirDevicesDo) {
  // 2 x 1 before the message, 1.5 x 1 behind it.
  EXPECT_DOUBLE_EQ(time_of(sender_and_receiver(false), std::array{2.0, 1.5}), 2.0 + 3.5 + 1.5);
  Workload of_host = sender_and_receiver(false);
  of_host.programs[0].blocks[0] = block(1.0, Cause::other);
  EXPECT_DOUBLE_EQ(time_of(of_host, std::array{2.0, 1.5}), 1.0 + 3.5 + 1.5);
}

/// Two stages of a replica that compute so long each, and do `operations` with communicators of
/// both.
Workload pair_of_groups(double first, double second, std::vector<Operation> operations,
                        std::vector<Communicator> communicators, std::vector<FlowPlan> plans) {
  Workload made;
  made.plans = std::move(plans);
  made.communicators = std::move(communicators);
  for (std::int32_t stage = 0; const double seconds : {first, second}) {
    Program program{.name = "stage", .blocks = {block(seconds)}, .collective_slots = 2};
    program.operations = {compute(0)};
    program.operations.insert(program.operations.end(), operations.begin(), operations.end());
    made.programs.push_back(std::move(program));
    RankGroup group{.program = stage, .stage = stage};
    for (std::size_t id = 0; id < made.communicators.size(); ++id) {
      group.communicators.push_back(static_cast<std::int32_t>(id));
    }
    made.groups.push_back(std::move(group));
    ++stage;
  }
  return made;
}

Communicator communicator(std::int32_t plan) {
  return {.name = "both", .members = 2, .plan = plan};
}

TEST(Recurrence, ACollectiveBeginsWhenTheLastHasJoined) {
  const Workload workload =
      pair_of_groups(1.0, 3.0, {join(0, 0, 2e6), wait(0)}, {communicator(0)}, {plan(0.25)});
  EXPECT_DOUBLE_EQ(time_of(workload), 3.0 + 2.0 + 0.25);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 0), 2.0);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 1), 0.0);
}

TEST(Recurrence, ACollectiveTakesAtLeastWhatItSays) {
  const auto with = [](double at_least) {
    return time_of(pair_of_groups(1.0, 1.0, {join(0, 0, 2e6, at_least), wait(0)}, {communicator(0)},
                                  {plan(0.25)}));
  };
  EXPECT_DOUBLE_EQ(with(1.0), 1.0 + 2.0 + 0.25);
  EXPECT_DOUBLE_EQ(with(4.0), 1.0 + 4.0 + 0.25);
}

TEST(Recurrence, CollectivesOfOneQueueRunOneAfterTheOther) {
  // 2 s, then 1 s, a latency each; of a queue of their own they share what serves both, and only
  // the first one's latency is beside the second's bytes.
  std::vector<Communicator> communicators = {communicator(0), communicator(0)};
  const auto workload = [&] {
    return pair_of_groups(1.0, 1.0, {join(0, 0, 2e6), join(1, 1, 1e6), wait(0), wait(1)},
                          communicators, {plan(0.25)});
  };
  EXPECT_DOUBLE_EQ(time_of(workload()), 1.0 + 3.0 + 0.25);
  communicators[1].queue = 0;
  EXPECT_DOUBLE_EQ(time_of(workload()), 1.0 + 2.25 + 1.25);
}

TEST(Recurrence, WhatOneLeavesOfANicTheNextTakes) {
  // Each at half of the NIC's rate: side by side, 2 s; a third of such takes what is left then.
  FlowPlan half = plan(0.0);
  half.crosses_fabric = true;
  half.nic_rate = BytesPerSecond(2.0 * kFast);
  const auto with = [&](double second) {
    return time_of(pair_of_groups(1.0, 1.0, {join(0, 0, 2e6), join(1, 1, second), wait(0), wait(1)},
                                  {communicator(0), communicator(0)}, {half}));
  };
  EXPECT_NEAR(with(1e6), 1.0 + 2.0, 1e-12);
  EXPECT_NEAR(with(4e6), 1.0 + 4.0, 1e-12);
  // The whole of the NIC: 2 + 1.
  half.nic_rate = BytesPerSecond(kFast);
  EXPECT_NEAR(with(1e6), 1.0 + 3.0, 1e-12);
}

TEST(Recurrence, FabricsOfDomainsAndNicsServeBesideEachOther) {
  FlowPlan outside = plan(0.0);
  outside.crosses_fabric = true;
  outside.nic_rate = BytesPerSecond(kFast);
  const Workload workload =
      pair_of_groups(1.0, 1.0, {join(0, 0, 2e6), join(1, 1, 1e6), wait(0), wait(1)},
                     {communicator(0), communicator(1)}, {plan(0.0), outside});
  EXPECT_NEAR(time_of(workload), 1.0 + 2.0, 1e-12);
}

TEST(Recurrence, ExchangesOfPassesWaitForNobodyElse) {
  Communicator exchange = communicator(0);
  exchange.cause = Cause::tensor_parallel;
  const Workload workload =
      pair_of_groups(1.0, 1.0, {join(0, 0, 2e6), join(1, 1, 1e6), wait(1), wait(0)},
                     {communicator(0), exchange}, {plan(0.25)});
  EXPECT_DOUBLE_EQ(time_of(workload), 1.0 + 2.25);
  // Two of them, one behind the other in the queue of the first.
  Communicator second = exchange;
  second.queue = 0;
  EXPECT_DOUBLE_EQ(
      time_of(pair_of_groups(1.0, 1.0, {join(0, 0, 2e6), join(1, 1, 1e6), wait(1), wait(0)},
                             {exchange, second}, {plan(0.25)})),
      1.0 + 2.25 + 1.25);
}

TEST(Recurrence, TheSlowestSortOfReplicaCounts) {
  Workload workload;
  workload.programs = {{.name = "quick", .blocks = {block(1.0)}, .operations = {compute(0)}},
                       {.name = "slow", .blocks = {block(3.0)}, .operations = {compute(0)}}};
  workload.groups = {{.program = 0, .replica = 0}, {.program = 1, .replica = 1}};
  EXPECT_DOUBLE_EQ(time_of(workload), 3.0);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 0), 0.0);  // they do not meet
  // Another stage of the quick one is through after 2 s, for which it waits.
  workload.programs.push_back({.name = "end", .blocks = {block(2.0)}, .operations = {compute(0)}});
  workload.groups.push_back({.program = 2, .stage = 1, .replica = 0});
  EXPECT_DOUBLE_EQ(waiting_of(workload, 0), 1.0);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 1), 0.0);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 2), 0.0);
}

TEST(Recurrence, ReplicasThatMeetInTheirPassesWaitForEachOther) {
  Workload workload =
      pair_of_groups(1.0, 3.0, {join(0, 0, 2e6), wait(0)}, {communicator(0)}, {plan(0.25)});
  workload.communicators[0].cause = Cause::expert_parallel;
  for (std::int32_t replica = 0; RankGroup & group : workload.groups) {
    group.stage = 0;
    group.replica = replica++;
  }
  EXPECT_DOUBLE_EQ(time_of(workload), 3.0 + 2.25);
  EXPECT_DOUBLE_EQ(waiting_of(workload, 0), 2.0);
}

}  // namespace
}  // namespace headway
