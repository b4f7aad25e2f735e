#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hand_timeline.h"
#include "sim/result/breakdown.h"

namespace headway {
namespace {

using testing::ElementsAre;

/// "stage 0: forward 0-1" for each segment, with "x 2" where several were merged.
std::vector<std::string> text_of(const std::vector<CriticalSegment>& path) {
  std::vector<std::string> lines;
  for (const CriticalSegment& segment : path) {
    lines.push_back(
        fmt::format("{}: {} {:g}-{:g}{}", segment.where.substr(0, 7), segment.what,
                    segment.start.count(), segment.end.count(),
                    segment.operations > 1 ? fmt::format(" x {}", segment.operations) : ""));
  }
  return lines;
}

TEST(CriticalPath, FollowsMessagesToTheirSenders) {
  EXPECT_THAT(text_of(critical_path(hand_workload(), hand_timeline())),
              ElementsAre("stage 0: forward 0-1", "stage 1: transfer from stage 0 1-1.5",
                          "stage 1: forward 1.5-3", "stage 1: backward 3-6",
                          "stage 0: transfer from stage 1 6-7", "stage 0: backward 7-9",
                          "stage 0: gradient reduce 9-10", "stage 0: optimizer 10-10.5"));
}

TEST(CriticalPath, FollowsACollectiveToItsLastMember) {
  // Stage 1 ends last; the reduction it waits for began when stage 0 joined.
  Timeline timeline = hand_timeline();
  timeline.operation_end[13] = 11.0;
  timeline.finish = 11.0;
  EXPECT_THAT(text_of(critical_path(hand_workload(), timeline)),
              ElementsAre("stage 0: forward 0-1", "stage 1: transfer from stage 0 1-1.5",
                          "stage 1: forward 1.5-3", "stage 1: backward 3-6",
                          "stage 0: transfer from stage 1 6-7", "stage 0: backward 7-9",
                          "stage 1: gradient reduce 9-10", "stage 1: optimizer 10-11"));
}

TEST(CriticalPath, AMessageThatWasThereBeforeIsNotOnThePath) {
  // What stage 1 sent has arrived at 0.5 s, while stage 0 was still computing.
  Timeline timeline = hand_timeline();
  timeline.messages[1] = {.sent = 0.25, .arrived = 0.5};
  timeline.operation_end[2] = 1.0;
  timeline.operation_end[3] = 9.0;
  EXPECT_THAT(text_of(critical_path(hand_workload(), timeline)),
              ElementsAre("stage 0: forward 0-1", "stage 0: backward 1-9",
                          "stage 0: gradient reduce 9-10", "stage 0: optimizer 10-10.5"));
}

/// One group that computes a second, joins two collectives at once and waits for the second.
struct Chain {
  Workload workload;
  Timeline timeline;
};

Chain chain(double first_join, double second_join) {
  Chain made;
  Program program{.collective_slots = 2};
  program.blocks = {{"backward", {}}};
  program.blocks[0].time[Cause::compute] = 1_s;
  program.operations = {{.kind = OperationKind::compute, .block = 0},
                        {.kind = OperationKind::join, .path = 0, .slot = 0},
                        {.kind = OperationKind::compute, .block = 0},
                        {.kind = OperationKind::join, .path = 0, .slot = 1},
                        {.kind = OperationKind::wait, .slot = 1}};
  made.workload.programs = {program};
  made.workload.groups = {{.program = 0, .communicators = {0}}};
  made.workload.communicators = {{.name = "gradient reduce", .members = 1, .plan = 0}};
  made.workload.plans.resize(1);
  made.timeline = {.finish = 7,
                   .first_operation = {0, 5},
                   .operation_end = {first_join, first_join, second_join, second_join, 7},
                   .first_message = {0, 0},
                   .collectives = {{{.first_join = first_join,
                                     .last_join = first_join,
                                     .end = 4,
                                     .last_group = 0,
                                     .last_operation = 1},
                                    {.first_join = second_join,
                                     .last_join = second_join,
                                     .end = 7,
                                     .last_group = 0,
                                     .last_operation = 3}}},
                   .plan_bytes = {0.0}};
  return made;
}

TEST(CriticalPath, GoesBackThroughCollectivesThatQueued) {
  // The second was joined at 2 s but began when the first was done at 4.
  const Chain queued = chain(1.0, 2.0);
  EXPECT_THAT(text_of(critical_path(queued.workload, queued.timeline)),
              ElementsAre("stage 0: backward 0-1", "stage 0: gradient reduce 1-7"));
}

TEST(CriticalPath, StopsAtACollectiveThatFoundTheWayFree) {
  const Chain free = chain(1.0, 5.0);
  EXPECT_THAT(text_of(critical_path(free.workload, free.timeline)),
              ElementsAre("stage 0: backward 0-5 x 2", "stage 0: gradient reduce 5-7"));
}

}  // namespace
}  // namespace headway
