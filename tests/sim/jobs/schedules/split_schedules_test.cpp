#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

using ::testing::ElementsAre;

ScheduleStep step(StepKind kind, int micro_batch, int chunk = 0) {
  return {.kind = kind, .chunk = chunk, .micro_batch = micro_batch};
}
constexpr StepKind kF = StepKind::forward;
constexpr StepKind kB = StepKind::input_gradient;
constexpr StepKind kW = StepKind::weight_gradient;

TEST(SplitSchedules, ZbH1PostponesWeightsByTheStagesBefore) {
  EXPECT_THAT(stage_schedule(*schedule_named("zb_h1"), {3, 1, 3}, 1),
              ElementsAre(step(kF, 0), step(kF, 1), step(kB, 0), step(kF, 2), step(kB, 1),
                          step(kW, 0), step(kB, 2), step(kW, 1), step(kW, 2)));
}

TEST(SplitSchedules, ZbVGoesThereAndBack) {
  // The last stage has both chunks of a micro-batch one after the other.
  EXPECT_THAT(
      stage_schedule(*schedule_named("zb_v"), {2, 2, 3}, 1),
      ElementsAre(step(kF, 0, 0), step(kF, 0, 1), step(kF, 1, 0), step(kF, 1, 1), step(kB, 0, 1),
                  step(kW, 0, 1), step(kF, 2, 0), step(kB, 0, 0), step(kW, 0, 0), step(kF, 2, 1),
                  step(kB, 1, 1), step(kW, 1, 1), step(kB, 1, 0), step(kB, 2, 1), step(kB, 2, 0),
                  step(kW, 1, 0), step(kW, 2, 1), step(kW, 2, 0)));
}

// Figure 5 of the report with two stages and four micro-batches: stage 0 is the nearer end of chunk
// 0. One micro-batch of its own and the first of the other end, which came through stage 1; then
// its second forward pass beside the far end's gradient, unmerged because nothing is to be hidden
// yet; and from the half of what drains on, gradients of weights wait.
TEST(SplitSchedules, DualPipeIsFedFromBothEnds) {
  const auto merged = [](int micro_batch, int chunk) {
    ScheduleStep made = step(kF, micro_batch, chunk);
    made.merged = true;
    return made;
  };
  constexpr StepKind kWhole = StepKind::backward;
  EXPECT_THAT(stage_schedule(*schedule_named("dualpipe"), {2, 1, 4}, 0),
              ElementsAre(step(kF, 0, 0), step(kF, 0, 1),      // both ends
                          step(kF, 1, 0), step(kWhole, 0, 1),  // the first pair
                          merged(1, 1), step(kWhole, 0, 0),    // the other way round
                          step(kWhole, 1, 1), step(kB, 1, 0), step(kW, 1, 0)));
  // The opposite stage does the same with its chunks swapped.
  EXPECT_THAT(
      stage_schedule(*schedule_named("dualpipe"), {2, 1, 4}, 1),
      ElementsAre(step(kF, 0, 1), step(kF, 0, 0), step(kF, 1, 1), step(kWhole, 0, 0), merged(1, 0),
                  step(kWhole, 0, 1), step(kWhole, 1, 0), step(kB, 1, 1), step(kW, 1, 1)));
}

}  // namespace
}  // namespace headway
