#include "sim/result/activity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hand_timeline.h"
#include "sim/result/breakdown.h"

namespace headway {
namespace {

using testing::ElementsAre;

/// "forward 0..1"
std::vector<std::string> words_of(const Activity& activity, std::size_t row) {
  std::vector<std::string> words;
  for (const Activity::Span& span : activity.rows.at(row).spans) {
    const std::string& kind = activity.kinds.at(static_cast<std::size_t>(span.kind));
    words.push_back(fmt::format("{} {}..{}", kind, span.start.count(), span.end.count()));
  }
  return words;
}

Activity activity_in(const Workload& workload, const Timeline& timeline) {
  return activity_of(workload, timeline, critical_path(workload, timeline));
}

/// Stage 0's message is sent at 6 and arrives at 7, stage 1's at 1 and 1.5. All have joined the
/// reduction at 9; it ends at 10.
TEST(Activity, TellsWhatEachStageDidWhen) {
  const Activity activity = activity_in(hand_workload(), hand_timeline());
  ASSERT_EQ(activity.rows.size(), 2U);
  EXPECT_EQ(activity.rows[1].where, "stage 1, replica 7");
  EXPECT_THAT(words_of(activity, 0),
              ElementsAre("forward 0..1", "waits for a message 1..6", "transfer 6..7",
                          "backward 7..9", "gradient reduce 9..10", "optimizer 10..10.5"));
  EXPECT_THAT(words_of(activity, 1),
              ElementsAre("waits for a message 0..1", "transfer 1..1.5", "forward 1.5..3",
                          "backward 3..6", "waits for the last rank 6..9", "gradient reduce 9..10",
                          "optimizer 10..10.4", "waits for the last rank 10.4..10.5"));
}

TEST(Activity, OfAJobThatWasNotSimulatedThereIsNone) {
  EXPECT_TRUE(activity_of({}, {}, {}).rows.empty());
}

/// A rank that runs `count` pairs of a forward pass of 1 s and a backward pass of `backward` s.
struct LongRun {
  Workload workload;
  Timeline timeline;
};
LongRun long_run(int count, double backward) {
  LongRun run;
  Program program{.name = "rank", .blocks = {{"forward", {}}, {"backward", {}}}};
  double now = 0.0;
  for (int i = 0; i < count; ++i) {
    for (const std::int32_t block : {0, 1}) {
      program.operations.push_back({.kind = OperationKind::compute, .block = block});
      now += block == 0 ? 1.0 : backward;
      run.timeline.operation_end.push_back(now);
    }
  }
  run.workload.programs = {program};
  run.workload.groups = {{}};
  run.timeline.first_operation = {0, 2 * count};
  run.timeline.first_message = {0, 0};
  run.timeline.finish = now;
  return run;
}

/// 1000 pairs of 1 s and 2 s make 3000 s: a slice of 6 s holds two of each, 4 s of which backward.
TEST(Activity, ManySpansBecomeSlicesOfWhatTakesMost) {
  const LongRun run = long_run(1000, 2.0);
  EXPECT_THAT(words_of(activity_of(run.workload, run.timeline, {}), 0),
              ElementsAre("backward 0..3000"));
}

/// 300 passes of 1 s and 300 of 0.001 s, each 1/300,300 of the whole: nobody misses those, 0.1 %
/// together.
TEST(Activity, WhatNobodySeesIsLeftOutOfLongRows) {
  const LongRun run = long_run(300, 0.001);
  const Activity activity = activity_of(run.workload, run.timeline, {});
  ASSERT_EQ(activity.rows.at(0).spans.size(), 300U);
  EXPECT_EQ(activity.rows[0].spans[1].start.count(), 1.001);
  EXPECT_EQ(activity.rows[0].spans[1].end.count(), 2.001);
}

TEST(Activity, LongPipelinesKeepTheFirstAndTheLastStage) {
  LongRun run = long_run(1, 1.0);
  run.workload.groups.assign(40, {});
  for (std::int32_t i = 0; i < 40; ++i) {
    run.workload.groups[static_cast<std::size_t>(i)].stage = i;
    run.timeline.operation_end.insert(run.timeline.operation_end.end(), {1.0, 2.0});
    run.timeline.first_operation.push_back(2 * (i + 2));
    run.timeline.first_message.push_back(0);
  }
  const Activity activity = activity_of(run.workload, run.timeline, {});
  ASSERT_EQ(activity.rows.size(), kActivityRows);
  EXPECT_EQ(activity.rows.front().where, "stage 0, replica 0");
  EXPECT_EQ(activity.rows.back().where, "stage 39, replica 0");
}

TEST(Activity, ShowsTheReplicaOfTheCriticalPath) {
  LongRun run = long_run(1, 1.0);
  run.workload.groups.assign(2, {});
  run.workload.groups[1].replica = 1;
  run.timeline.operation_end.insert(run.timeline.operation_end.end(), {1.0, 2.0});
  run.timeline.first_operation.push_back(4);
  run.timeline.first_message.push_back(0);
  const std::vector<CriticalSegment> path = {{"stage 0, replica 0", "forward", 0.0_s, 0.5_s, 1},
                                             {"stage 0, replica 1", "backward", 0.5_s, 2_s, 1}};
  const Activity activity = activity_of(run.workload, run.timeline, path);
  ASSERT_EQ(activity.rows.size(), 1U);
  EXPECT_EQ(activity.rows[0].where, "stage 0, replica 1");
}

}  // namespace
}  // namespace headway
