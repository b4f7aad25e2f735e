// Jobs beside each other: which numbers they have, and what is read and written beside them.
#include "sim/programs/joint_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/programs/unused_ways.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/sample_workload.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int32_t> slots_of(const Program& program, OperationKind kind) {
  std::vector<std::int32_t> slots;
  for (const Operation& operation : program.operations) {
    if (operation.kind == kind) slots.push_back(operation.slot);
  }
  return slots;
}

// The sample has two programs of four messages and one collective each, of two micro-batches.
TEST(JointWorkload, IterationsHaveSlotsAndMicroBatchesOfTheirOwn) {
  const Workload sample = sample::workload();
  const JointPart parts[] = {{.workload = &sample, .iterations = 3}};
  const JointWorkload joint = joint_workload(parts);
  const Program& first = joint.workload.programs[0];
  const auto once = std::ssize(sample.programs[0].operations);
  EXPECT_EQ(std::ssize(first.operations), 3 * once);
  EXPECT_EQ(first.message_slots, 3 * 4);
  EXPECT_EQ(first.collective_slots, 3);
  EXPECT_THAT(slots_of(first, OperationKind::send), ElementsAre(0, 1, 4, 5, 8, 9));
  EXPECT_THAT(slots_of(first, OperationKind::receive), ElementsAre(2, 3, 6, 7, 10, 11));
  EXPECT_THAT(slots_of(first, OperationKind::wait), ElementsAre(0, 1, 2));
  std::vector<std::int32_t> micro_batches;
  for (const Operation& operation : first.operations) {
    if (operation.kind == OperationKind::send) micro_batches.push_back(operation.micro_batch);
  }
  EXPECT_THAT(micro_batches, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(first.operations.back().micro_batch, -1);
}

TEST(JointWorkload, ASecondJobsNumbersStandBehindTheFirsts) {
  Workload sample = sample::workload();
  sample.plans[0].ports = {1, kStorePort};
  sample.communicators[1].queue = 0;
  const JointPart parts[] = {{.workload = &sample}, {.workload = &sample, .iterations = 2}};
  const JointWorkload joint = joint_workload(parts);
  EXPECT_THAT(joint.first_group, ElementsAre(0, 4, 8));
  EXPECT_THAT(joint.iterations, ElementsAre(1, 2));
  const RankGroup& of_second = joint.workload.groups[5];  // its first replica's second stage
  EXPECT_EQ(of_second.program, 2 + 1);
  EXPECT_EQ(of_second.stage, 1);
  EXPECT_THAT(of_second.paths, ElementsAre(1));
  EXPECT_THAT(of_second.communicators, ElementsAre(2 + 1, -1));
  ASSERT_EQ(joint.workload.communicators.size(), 4U);
  EXPECT_EQ(joint.workload.communicators[3].plan, 1);
  EXPECT_EQ(joint.workload.communicators[3].queue, 2);
  EXPECT_EQ(joint.workload.communicators[2].queue, -1);
  // Ports are named after communicators, the store behind all four.
  EXPECT_THAT(joint.workload.plans[0].ports, ElementsAre(1, 4));
  EXPECT_THAT(joint.workload.plans[1].ports, ElementsAre(3, 4));
}

TEST(JointWorkload, AnIterationIsOverWhenItsLastGroupIsThroughWithIt) {
  JointWorkload joint;
  joint.first_group = {0, 1, 3};
  joint.iterations = {1, 2};
  // One group of two operations; two groups of the second job, of four and two in two iterations.
  const std::vector<std::int64_t> first = {0, 2, 6, 8};
  const std::vector<double> ends = {1, 9, 1, 2, 3, 4, 2.5, 3.5};
  EXPECT_THAT(iteration_ends(joint, 0, first, ends), ElementsAre(9));
  EXPECT_THAT(iteration_ends(joint, 1, first, ends), ElementsAre(2.5, 4));
}

TEST(UnusedWays, AreThoseThatNobodySendsBy) {
  Workload workload = sample::workload();
  workload.plans.resize(5);
  for (std::size_t i = 0; i < 5; ++i)
    workload.plans[i].latency = Seconds(1.0 + static_cast<double>(i));
  workload.communicators[0].plan = 1;  // its second way is used
  workload.communicators[1].plan = 3;
  for (Operation& operation : workload.programs[0].operations) {
    if (operation.kind == OperationKind::join) operation.way = 1;
  }
  drop_unused_ways(workload);
  std::vector<double> left;
  for (const FlowPlan& plan : workload.plans) left.push_back(plan.latency.count());
  EXPECT_THAT(left, ElementsAre(1, 0, 3, 4, 0));
}

/// Four nodes of two accelerators with a NIC each; the last two are a store.
class StoreTraffic : public testing::Test {
 protected:
  StoreTraffic() {
    for (int replica = 0; replica < 2; ++replica) {
      for (int stage = 0; stage < 2; ++stage) {
        job.groups.push_back({.program = stage,
                              .stage = stage,
                              .replica = replica,
                              .accelerators = {2 * replica + stage}});
      }
    }
    const Operation computes{.kind = OperationKind::compute, .block = 0};
    for (const char* name : {"stage 0", "stage 1"}) {
      job.programs.push_back(
          {.name = name, .blocks = {{"pass", {}}}, .operations = {computes}, .message_slots = 5});
    }
  }
  std::shared_ptr<const Cluster> cluster =
      cluster_of(ClusterText{.nodes = 4, .accelerators = 2, .nics = 2}.text());
  NetworkCosts network;
  Store store{*cluster, network, 2};
  Workload job;
};

TEST_F(StoreTraffic, EveryHostHasAnEqualPartOnTheRail) {
  const FlowPlan reads = store_plan(store, 1, StoreAccess::read, 5_GBps);
  EXPECT_EQ(reads.port_rate, 5_GBps);
  EXPECT_THAT(reads.ports, ElementsAre(kStorePort));
  // Out of NICs 5 and 7 half each, into NIC 1 all: links 2 i leave NIC i, 2 i + 1 reach it.
  double out = 0.0;
  double in = 0.0;
  for (const LinkLoad& load : reads.links) {
    if (load.link == 3) in += load.weight;
    if (load.link == 10 || load.link == 14) {
      EXPECT_EQ(load.weight, 0.5);
      out += load.weight;
    }
  }
  EXPECT_EQ(out, 1.0);
  EXPECT_EQ(in, 1.0);
  const FlowPlan writes = store_plan(store, 1, StoreAccess::write, 5_GBps);
  EXPECT_TRUE(std::ranges::any_of(
      writes.links, [](const LinkLoad& load) { return load.link == 2 && load.weight == 1.0; }));
  store.hosts = 0;
  EXPECT_THAT(store_plan(store, 1, StoreAccess::read, 5_GBps).links, IsEmpty());
}

TEST_F(StoreTraffic, FirstStagesReadABatchTogether) {
  const StoreReads reads = store_reads(job, store, 6_MB, 5_GBps, 2);
  EXPECT_EQ(reads.amount, 3_MB);
  EXPECT_EQ(reads.ahead, 2);
  ASSERT_EQ(reads.plans.size(), 4U);
  EXPECT_FALSE(reads.plans[0].links.empty());
  EXPECT_TRUE(reads.plans[1].links.empty());
  EXPECT_FALSE(reads.plans[2].links.empty());
  EXPECT_TRUE(store_reads(job, store, 0_B, 5_GBps, 2).plans[0].links.empty());
}

TEST_F(StoreTraffic, ReadersStandBehindTheirGroupsAndReadAhead) {
  using enum OperationKind;
  const StoreReads reads = store_reads(job, store, 6_MB, 5_GBps, 2);
  const JointPart parts[] = {{.workload = &job, .iterations = 3, .reads = &reads}};
  const Workload joint = joint_workload(parts).workload;
  ASSERT_EQ(joint.groups.size(), 8U);
  // Before each iteration it asks the reader, four groups away, and takes what comes.
  const Program& fed = joint.programs[static_cast<std::size_t>(joint.groups[0].program)];
  std::vector<OperationKind> kinds;
  for (const Operation& operation : fed.operations) kinds.push_back(operation.kind);
  EXPECT_THAT(kinds,
              ElementsAre(send, receive, compute, send, receive, compute, send, receive, compute));
  EXPECT_EQ(fed.operations[0].peer, 4);
  EXPECT_THAT(slots_of(fed, send), ElementsAre(0, 1, 2));
  EXPECT_THAT(slots_of(fed, receive), ElementsAre(15, 16, 17));
  EXPECT_EQ(fed.message_slots, 3 * 5 + 3 + 2);
  // Two steps are read before anybody asks, one more for each that did.
  const Program& reader = joint.programs[static_cast<std::size_t>(joint.groups[4].program)];
  kinds.clear();
  for (const Operation& operation : reader.operations) {
    kinds.push_back(operation.kind);
    if (operation.kind != send) continue;
    EXPECT_EQ(operation.peer, -4);
    EXPECT_EQ(operation.amount, 3_MB);
    EXPECT_TRUE(operation.blocking);
  }
  EXPECT_THAT(kinds, ElementsAre(send, send, receive, send, receive, send, receive, send));
  EXPECT_THAT(slots_of(reader, send), ElementsAre(15, 16, 17, 18, 19));
  EXPECT_THAT(slots_of(reader, receive), ElementsAre(0, 1, 2));
  // It asks by a way without links, and what is read comes by the reader's own.
  const auto plan_of = [&](std::size_t group) {
    return joint.plans.at(static_cast<std::size_t>(joint.groups[group].paths.back()));
  };
  EXPECT_THAT(plan_of(0).links, IsEmpty());
  EXPECT_EQ(plan_of(4).links.size(), reads.plans[0].links.size());
  EXPECT_EQ(plan_of(4).port_rate, 5_GBps);
  // Second stages have neither.
  EXPECT_THAT(joint.programs[static_cast<std::size_t>(joint.groups[5].program)].operations,
              IsEmpty());
  EXPECT_EQ(joint.programs[static_cast<std::size_t>(joint.groups[1].program)].operations.size(),
            3U);
}

TEST_F(StoreTraffic, RanksWriteTheirPartsTogether) {
  const Workload writes = store_writes(job, store, 8_MB, 5_GBps, 2_GBps);
  ASSERT_EQ(writes.groups.size(), 8U);  // four that write, and what is stored of each
  ASSERT_EQ(writes.plans.size(), 4U);
  for (const FlowPlan& plan : writes.plans) EXPECT_EQ(plan.rate_cap, 0.5_GBps);
  for (std::int32_t i = 0; i < 4; ++i) EXPECT_THAT(writes.groups[i].paths, ElementsAre(i));
  const Operation& sent = writes.programs[0].operations.at(0);
  EXPECT_EQ(sent.peer, 4);
  EXPECT_EQ(sent.amount, 2_MB);
  EXPECT_TRUE(sent.blocking);
  EXPECT_EQ(writes.groups[5].accelerators, writes.groups[1].accelerators);
  EXPECT_EQ(writes.groups[5].program, 1);
}

}  // namespace
}  // namespace headway
