#include "sim/result/server_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/programs/program_builder.h"
#include "sim/result/breakdown.h"

namespace headway {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

/// Two workers that compute 1 s, push at once and have their parameters back at 3 and 5 s, the last
/// answer having left at 2 and 4.5 s.
struct ServedStep {
  ServedStep() {
    ProgramBuilder builder("worker");
    TimeByCause second;
    second[Cause::compute] = Seconds(1.0);
    const auto block = builder.add_block("forward and backward", second);
    builder.begin_round();
    builder.compute(block);
    builder.pull(builder.push(0));
    workload.programs.push_back(std::move(builder).finished());
    workload.groups = {{.program = 0, .replica = 0}, {.program = 0, .replica = 1}};
    workload.servers.resize(2);
    workload.servers[0].name = "server 0";
    workload.servers[1].name = "server 1";
    timeline.finish = 5.0;
    timeline.first_operation = {0, 3, 6};
    timeline.operation_end = {1.0, 1.0, 3.0, 1.0, 1.0, 5.0};
    timeline.first_message = {0, 1, 2};
    timeline.messages = {{.sent = 2.0, .arrived = 3.0}, {.sent = 4.5, .arrived = 5.0}};
    timeline.served = {{.busy = 1.0, .taken = 6}, {.busy = 2.0, .taken = 2, .dropped = 2}};
    timeline.updates = {{.staleness = 0}, {.staleness = 1}, {.staleness = 1}, {.staleness = 3}};
  }
  Workload workload;
  Timeline timeline;
};

TEST(ServerUse, TellsHowBusyServersAreAndHowIdleWorkers) {
  const ServedStep step;
  const ServerUse use = server_use(step.workload, step.timeline);
  EXPECT_EQ(use.servers, 2);
  EXPECT_EQ(use.workers, 2);
  EXPECT_DOUBLE_EQ(use.idle_share, 0.8);  // 2 s of work in 2 x 5 s
  EXPECT_EQ(use.hottest, "server 1");
  EXPECT_DOUBLE_EQ(use.hottest_busy, 0.4);
  EXPECT_DOUBLE_EQ(use.dropped_share, 0.2);
  EXPECT_DOUBLE_EQ(use.mean_staleness, 1.25);
  EXPECT_THAT(use.staleness, ElementsAre(DoubleEq(0.25), DoubleEq(0.5), 0.0, DoubleEq(0.25)));
}

TEST(ServerUse, WaitingForServersIsToldFromTheirBytes) {
  const ServedStep step;
  const TimeByCause first = group_breakdown(step.workload, step.timeline, 0);
  EXPECT_DOUBLE_EQ(first[Cause::compute].count(), 1.0);
  EXPECT_DOUBLE_EQ(first[Cause::server_wait].count(), 1.0);
  EXPECT_DOUBLE_EQ(first[Cause::data_parallel_exposed].count(), 1.0);
  EXPECT_DOUBLE_EQ(first[Cause::straggler_wait].count(), 2.0);
  const TimeByCause second = group_breakdown(step.workload, step.timeline, 1);
  EXPECT_DOUBLE_EQ(second[Cause::server_wait].count(), 3.5);
  EXPECT_DOUBLE_EQ(second.total().count(), 5.0);
}

// A run that ended before the answer: all of it is waiting.
TEST(ServerUse, AnAnswerThatNeverCameIsWaitedForToTheEnd) {
  ServedStep step;
  step.timeline.messages[1] = {};
  const TimeByCause second = group_breakdown(step.workload, step.timeline, 1);
  EXPECT_DOUBLE_EQ(second[Cause::server_wait].count(), 4.0);
  EXPECT_DOUBLE_EQ(second[Cause::data_parallel_exposed].count(), 0.0);
}

}  // namespace
}  // namespace headway
