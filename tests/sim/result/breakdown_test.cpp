#include "sim/result/breakdown.h"

#include <gtest/gtest.h>

#include "hand_timeline.h"

namespace headway {
namespace {

void expect_time(const TimeByCause& time, Cause cause, double seconds) {
  EXPECT_NEAR(time[cause].count(), seconds, 1e-12) << cause_name(cause);
}

TEST(Breakdown, WaitingForAMessageIsBubbleUntilItIsSentAndTransferFromThenOn) {
  // Stage 0 waits from 1 to 7 s for what is sent at 6, and from 9 to 10 for the reduction that
  // begins when it joins.
  const TimeByCause time = group_breakdown(hand_workload(), hand_timeline(), 0);
  expect_time(time, Cause::compute, 2.6);
  expect_time(time, Cause::tensor_parallel, 0.4);
  expect_time(time, Cause::pipeline_bubble, 5.0);
  expect_time(time, Cause::pipeline_transfer, 1.0);
  expect_time(time, Cause::data_parallel_exposed, 1.0);
  expect_time(time, Cause::optimizer, 0.5);
  expect_time(time, Cause::straggler_wait, 0.0);
  EXPECT_NEAR(time.total().count(), 10.5, 1e-12);
}

TEST(Breakdown, SlownessAndWaitingForTheLastMemberAreLostToStragglers) {
  // Stage 1: 0.5 s and 1 s beyond nominal, 3 s until stage 0 joins, 0.1 s after its own end. Its
  // optimizer takes 0.4 s of nominally 0.5.
  const TimeByCause time = group_breakdown(hand_workload(), hand_timeline(), 1);
  expect_time(time, Cause::compute, 2.6);
  expect_time(time, Cause::tensor_parallel, 0.4);
  expect_time(time, Cause::pipeline_bubble, 1.0);
  expect_time(time, Cause::pipeline_transfer, 0.5);
  expect_time(time, Cause::straggler_wait, 0.5 + 1.0 + 3.0 + 0.1);
  expect_time(time, Cause::data_parallel_exposed, 1.0);
  expect_time(time, Cause::optimizer, 0.4);
  EXPECT_NEAR(time.total().count(), 10.5, 1e-12);
}

TEST(Breakdown, AFastBlockTakesLessOfEachOfItsCauses) {
  // Forward in half the nominal second: 0.3 s of compute, 0.2 s of tensor-parallel, nothing lost.
  Timeline timeline = hand_timeline();
  timeline.operation_end[0] = 0.5;
  timeline.operation_end[1] = 0.5;
  const TimeByCause time = group_breakdown(hand_workload(), timeline, 0);
  expect_time(time, Cause::compute, 2.3);
  expect_time(time, Cause::tensor_parallel, 0.2);
  expect_time(time, Cause::straggler_wait, 0.0);
  EXPECT_NEAR(time.total().count(), 10.5, 1e-12);
}

TEST(Breakdown, ABlockingSendIsTransfer) {
  Timeline timeline = hand_timeline();
  timeline.operation_end[1] = 1.5;
  expect_time(group_breakdown(hand_workload(), timeline, 0), Cause::pipeline_transfer,
              1.5 - 0.5 + 0.5);
}

TEST(Breakdown, WhatTheOrderOfPassesLeavesIdleIsBubbleAndTheRestSlowness) {
  // 5 + 1 s of waiting and slowness, of which 4 s are nobody's fault.
  TimeByCause time;
  time[Cause::compute] = Seconds(10.0);
  time[Cause::pipeline_bubble] = Seconds(5.0);
  time[Cause::straggler_wait] = Seconds(1.0);
  settle_waiting(time, Seconds(4.0));
  expect_time(time, Cause::pipeline_bubble, 4.0);
  expect_time(time, Cause::straggler_wait, 2.0);
  // Whoever waits less than that has no more to tell.
  settle_waiting(time, Seconds(7.0));
  expect_time(time, Cause::pipeline_bubble, 6.0);
  expect_time(time, Cause::straggler_wait, 0.0);
  EXPECT_NEAR(time.total().count(), 16.0, 1e-12);
}

TEST(BusiestGroup, IsTheStageOfTheReplicaThatComputesMost) {
  Workload workload = hand_workload();
  EXPECT_EQ(busiest_group(workload, 0), 0);  // both compute as long
  workload.programs[1].blocks[0].time[Cause::compute] += Seconds(0.1);
  EXPECT_EQ(busiest_group(workload, 0), 1);
}

TEST(CriticalGroup, IsTheLastToFinish) {
  EXPECT_EQ(critical_group(hand_workload(), hand_timeline()), 0);
  Timeline timeline = hand_timeline();
  timeline.operation_end[13] = 11.0;
  EXPECT_EQ(critical_group(hand_workload(), timeline), 1);
}

TEST(CriticalGroup, OfSeveralIsTheOneThatWaitsLeast) {
  // Stage 0 waits 6 + 1 s, stage 1 1.5 + 4 s.
  Timeline timeline = hand_timeline();
  timeline.operation_end[13] = 10.5;
  EXPECT_EQ(critical_group(hand_workload(), timeline), 1);
}

TEST(GroupName, SaysStageAndReplica) {
  EXPECT_EQ(group_name(hand_workload(), 1), "stage 1, replica 7");
}

}  // namespace
}  // namespace headway
