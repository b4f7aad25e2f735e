#include "sim/jobs/schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "sim/base/diagnostic.h"
#include "tests/sim/jobs/schedules/pipeline_evaluation.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::makespan;

const Schedule& kGpipe = *schedule_named("gpipe");
const Schedule& kOneFOneB = *schedule_named("1f1b");
const Schedule& kZbH1 = *schedule_named("zb_h1");
const Schedule& kZbV = *schedule_named("zb_v");
const Schedule& kDualPipe = *schedule_named("dualpipe");

/// Every shape of a grid that the schedule takes.
std::vector<PipelineShape> shapes(const Schedule& schedule) {
  std::vector<PipelineShape> shapes;
  for (const int stages : {1, 2, 3, 4, 8, 12}) {
    for (const int virtual_stages : {1, 2, 3, 5}) {
      for (const int micro_batches : {1, 2, 3, 5, 7, 8, 9, 12, 15, 24, 36, 56}) {
        const PipelineShape shape{stages, virtual_stages, micro_batches};
        if (takes(schedule, shape)) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

std::string name(const Schedule& schedule, const PipelineShape& shape) {
  return std::string(schedule.name) + " p" + std::to_string(shape.stages) + " v" +
         std::to_string(shape.virtual_stages) + " m" + std::to_string(shape.micro_batches);
}

ScheduleStep forward(int chunk, int micro_batch) { return {StepKind::forward, chunk, micro_batch}; }
ScheduleStep backward(int chunk, int micro_batch) {
  return {StepKind::backward, chunk, micro_batch};
}

TEST(StageSchedule, GpipeDoesAllForwardPassesFirst) {
  EXPECT_THAT(stage_schedule(kGpipe, {2, 1, 3}, 1),
              ElementsAre(forward(0, 0), forward(0, 1), forward(0, 2), backward(0, 0),
                          backward(0, 1), backward(0, 2)));
}

TEST(StageSchedule, OneFOneBWarmsUpByTheStagesBehind) {
  EXPECT_THAT(stage_schedule(kOneFOneB, {4, 1, 4}, 1),
              ElementsAre(forward(0, 0), forward(0, 1),  // two stages behind
                          forward(0, 2), backward(0, 0), forward(0, 3), backward(0, 1),
                          backward(0, 2), backward(0, 3)));
}

TEST(StageSchedule, TheLastStageOfOneFOneBAlternatesFromTheStart) {
  EXPECT_THAT(stage_schedule(kOneFOneB, {4, 1, 2}, 3),
              ElementsAre(forward(0, 0), backward(0, 0), forward(0, 1), backward(0, 1)));
}

// Megatron-LM's get_model_chunk_id with two stages and two chunks: passes 0 to 7 go through chunks
// 0 0 1 1 0 0 1 1 (forward) and 1 1 0 0 1 1 0 0 (backward), on micro-batches 0 1 0 1 2 3 2 3.
// Stage 1 warms up with 2 x 0 + 1 x 2 = 2 passes, stage 0 with 2 x 1 + 1 x 2 = 4.
TEST(StageSchedule, InterleavedOrdersChunksAsMegatronDoes) {
  EXPECT_THAT(
      stage_schedule(kOneFOneB, {2, 2, 4}, 1),
      ElementsAre(forward(0, 0), forward(0, 1),  // warm-up
                  forward(1, 0), backward(1, 0), forward(1, 1), backward(1, 1), forward(0, 2),
                  backward(0, 0), forward(0, 3), backward(0, 1), forward(1, 2), backward(1, 2),
                  forward(1, 3), backward(1, 3), backward(0, 2), backward(0, 3)));
  EXPECT_THAT(stage_schedule(kOneFOneB, {2, 2, 4}, 0),
              ElementsAre(forward(0, 0), forward(0, 1), forward(1, 0), forward(1, 1),  // warm-up
                          forward(0, 2), backward(1, 0), forward(0, 3), backward(1, 1),
                          forward(1, 2), backward(0, 0), forward(1, 3), backward(0, 1),
                          backward(1, 2), backward(1, 3), backward(0, 2), backward(0, 3)));
}

TEST(Schedules, AreFoundByTheirNames) {
  for (const Schedule& schedule : schedules()) EXPECT_EQ(schedule_named(schedule.name), &schedule);
  EXPECT_EQ(schedule_named("1F1B"), nullptr);
}

TEST(Schedules, RunEveryPassOnceAndInOrder) {
  for (const Schedule& schedule : schedules()) {
    const std::vector<PipelineShape> all = shapes(schedule);
    EXPECT_GT(all.size(), 5U) << schedule.name;
    for (const PipelineShape& shape : all) {
      SCOPED_TRACE(name(schedule, shape));
      for (int stage = 0; stage < shape.stages; ++stage) {
        std::set<std::pair<int, int>> forward;
        std::set<std::pair<int, int>> backward;
        std::set<std::pair<int, int>> weight;
        for (const ScheduleStep& step : stage_schedule(schedule, shape, stage)) {
          const std::pair pass(step.chunk, step.micro_batch);
          if (step.kind == StepKind::forward) {
            EXPECT_TRUE(forward.insert(pass).second);
          } else if (step.kind == StepKind::weight_gradient) {
            EXPECT_TRUE(backward.contains(pass));
            EXPECT_TRUE(weight.insert(pass).second);
          } else {
            EXPECT_TRUE(forward.contains(pass));
            EXPECT_TRUE(backward.insert(pass).second);
            if (step.kind == StepKind::backward) {
              EXPECT_TRUE(weight.insert(pass).second);
            }
          }
          EXPECT_TRUE(schedule.splits_backward || step.kind != StepKind::input_gradient);
        }
        // Every micro-batch through every chunk; of two copies, half of them through each.
        std::set<std::pair<int, int>> wanted;
        const int chunks = schedule.is_doubled() ? 2 : shape.virtual_stages;
        const int passes = schedule.is_doubled() ? shape.micro_batches / 2 : shape.micro_batches;
        for (int i = 0; i < chunks * passes; ++i) wanted.emplace(i / passes, i % passes);
        EXPECT_EQ(forward, wanted);
        EXPECT_EQ(backward, wanted);
        EXPECT_EQ(weight, wanted);
      }
    }
  }
}

// A stage works m v (f + b); what is beyond that on the fullest one is the bubble of the source.
// ZB-H1's holds for gradients of inputs no shorter than those of weights and as many micro-batches
// as stages, DualPipe's for gradients of inputs as long as forward passes, ZB-V's for equal parts.
TEST(Schedules, TakeTheTimeOfTheirSources) {
  for (const Schedule& schedule : schedules()) {
    ASSERT_NE(schedule.bubble, nullptr) << schedule.name;
    std::vector<PassTimes> all_times = {{1.0, 2.0, 1.0}};
    if (schedule.course != Course::there_and_back) all_times.push_back({1.0, 1.5, 0.5});
    if (!schedule.splits_backward) all_times.push_back({3.0, 7.0, 4.0});
    for (const PipelineShape& shape : shapes(schedule)) {
      if (schedule.splits_backward && shape.micro_batches < shape.stages) continue;
      for (const PassTimes& times : all_times) {
        const double pass = times.forward + times.backward;
        const double work = shape.micro_batches * shape.virtual_stages * pass;
        EXPECT_NEAR(makespan(schedule, shape, times), work + schedule.bubble(shape, times), 1e-9)
            << name(schedule, shape);
      }
    }
  }
}

// Per stage of 4 with passes of 1 and 2, half of the latter for weights: 1F1B (p-1)(f+b) = 9, ZB-H1
// (p-1)(f+B-W) = 3, ZB-V (p-1) f = 3, DualPipe (p/2-1)(f+b + b - 3W) = 2 (DeepSeek-V3, table 2).
TEST(Schedules, HaveTheBubblesOfTheirPapers) {
  const PassTimes times{1.0, 2.0, 1.0};
  EXPECT_DOUBLE_EQ(kOneFOneB.bubble({4, 1, 8}, times), 9.0);
  EXPECT_DOUBLE_EQ(kOneFOneB.bubble({4, 3, 8}, times), 9.0);  // of chunks a third as long
  EXPECT_DOUBLE_EQ(kGpipe.bubble({4, 1, 8}, times), 9.0);
  EXPECT_DOUBLE_EQ(kZbH1.bubble({4, 1, 8}, times), 3.0);
  EXPECT_DOUBLE_EQ(kZbV.bubble({4, 2, 8}, times), 3.0);
  EXPECT_DOUBLE_EQ(kZbV.bubble({4, 2, 8}, {1.5, 3.0, 1.5}), 4.5);
  EXPECT_DOUBLE_EQ(kDualPipe.bubble({4, 1, 8}, times), 2.0);
  EXPECT_DOUBLE_EQ(kOneFOneB.bubble({1, 1, 1}, times), 0.0);
}

TEST(Schedules, TakeTheShapesThatTheirOrderNeeds) {
  EXPECT_TRUE(takes(kGpipe, {1, 1, 1}));
  EXPECT_FALSE(takes(kGpipe, {2, 2, 4}));  // does not interleave
  EXPECT_TRUE(takes(kOneFOneB, {2, 2, 4}));
  EXPECT_FALSE(takes(kOneFOneB, {2, 2, 3}));  // not whole groups
  EXPECT_FALSE(takes(kOneFOneB, {1, 2, 4}));  // one after the other on one stage
  EXPECT_TRUE(takes(kOneFOneB, {2, 1, 3}));
  EXPECT_TRUE(takes(kZbH1, {2, 1, 1}));
  EXPECT_FALSE(takes(kZbH1, {1, 1, 1}));
  EXPECT_FALSE(takes(kZbH1, {4, 2, 8}));
  EXPECT_TRUE(takes(kZbV, {4, 2, 7}));
  EXPECT_FALSE(takes(kZbV, {4, 2, 6}));  // 2 x 4 - 1 at least
  EXPECT_FALSE(takes(kZbV, {4, 1, 8}));
  EXPECT_TRUE(takes(kDualPipe, {4, 1, 8}));
  EXPECT_FALSE(takes(kDualPipe, {3, 1, 8}));
  EXPECT_FALSE(takes(kDualPipe, {4, 1, 6}));
  EXPECT_FALSE(takes(kDualPipe, {4, 1, 9}));
}

TEST(StageSchedule, ImpossibleShapesAreABug) {
  EXPECT_THROW(static_cast<void>(stage_schedule(kGpipe, {2, 2, 4}, 0)), InternalError);
  EXPECT_THROW(static_cast<void>(stage_schedule(kOneFOneB, {2, 1, 4}, 2)), InternalError);
  EXPECT_THROW(static_cast<void>(peak_chunks_in_flight(kOneFOneB, {2, 2, 3}, 0)), InternalError);
}

TEST(ChunkPlace, IsTheInverseOfThePosition) {
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape& shape : shapes(schedule)) {
      const int chunks = schedule.is_doubled() ? 2 : shape.virtual_stages;
      std::multiset<int> positions;
      for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const int position = chunk_position(schedule, stage, chunk, shape.stages);
          const ChunkPlace place = chunk_place(schedule, position, chunk, shape.stages);
          EXPECT_EQ(place.stage, stage) << name(schedule, shape);
          EXPECT_EQ(place.chunk, chunk) << name(schedule, shape);
          positions.insert(position);
        }
      }
      for (int part = 0; part < shape.stages * shape.virtual_stages; ++part) {
        EXPECT_EQ(positions.count(part), schedule.is_doubled() ? 2U : 1U);
      }
    }
  }
}

// Two stages: rounds are 0 1 0 1, there and back is 0 1 1 0, from the other end 1 0.
TEST(ChunkPosition, FollowsTheCourseOfTheSchedule) {
  EXPECT_EQ(chunk_position(kOneFOneB, 1, 1, 2), 3);
  EXPECT_EQ(chunk_position(kZbV, 1, 1, 2), 2);
  EXPECT_EQ(chunk_position(kZbV, 0, 1, 2), 3);
  EXPECT_EQ(chunk_position(kDualPipe, 0, 1, 2), 1);
  EXPECT_EQ(chunk_position(kDualPipe, 1, 1, 2), 0);
}

TEST(PeakChunksInFlight, CountsWhatTheScheduleHolds) {
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape& shape : shapes(schedule)) {
      for (int stage = 0; stage < shape.stages; ++stage) {
        SCOPED_TRACE(name(schedule, shape) + " stage " + std::to_string(stage));
        int held = 0;
        int peak = 0;
        for (const ScheduleStep& step : stage_schedule(schedule, shape, stage)) {
          held += held_after(step.kind);
          peak = std::max(peak, held);
        }
        EXPECT_EQ(held, 0);
        EXPECT_EQ(peak_chunks_in_flight(schedule, shape, stage), peak);
      }
    }
  }
}

// Memory looks at four micro-batches a stage of schedules that say so.
TEST(PeakChunksInFlight, GrowsNoMoreWhereTheScheduleBoundsIt) {
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape& shape : shapes(schedule)) {
      if (!schedule.bounds_flight || shape.micro_batches < 4 * shape.stages) continue;
      PipelineShape shorter = shape;
      shorter.micro_batches = 4 * shape.stages;
      EXPECT_EQ(peak_chunks_in_flight(schedule, shape, 0),
                peak_chunks_in_flight(schedule, shorter, 0))
          << name(schedule, shape);
    }
  }
}

// ZB-H1 as many passes as 1F1B's first stage; ZB-V as many, of chunks half as large; DualPipe one
// more than stages (DeepSeek-V3 report, table 2).
TEST(PeakChunksInFlight, IsNoMoreThanPapersSay) {
  for (const Schedule* schedule : {&kZbH1, &kZbV, &kDualPipe}) {
    for (const PipelineShape& shape : shapes(*schedule)) {
      int most = 0;
      for (int stage = 0; stage < shape.stages; ++stage) {
        most = std::max(most, peak_chunks_in_flight(*schedule, shape, stage));
      }
      const int passes = std::min(shape.stages, shape.micro_batches);
      const int published = schedule == &kZbH1  ? passes
                            : schedule == &kZbV ? 2 * passes
                                                : shape.stages + 1;
      EXPECT_EQ(most, published) << name(*schedule, shape);
    }
  }
}

TEST(PeakChunksInFlight, IsTheStagesFromHereOnInOneFOneB) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {8, 1, 64}, 0), 8);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {8, 1, 64}, 7), 1);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {8, 1, 3}, 0), 3);  // no more than there are
  EXPECT_EQ(peak_chunks_in_flight(kGpipe, {8, 1, 64}, 7), 64);
}

// Korthikanti et al. 2022, section 4.2.3: interleaving holds L (1 + (p - 1)/(p m)) layers on the
// first stage, m being chunks a stage: 8 stages of 3 chunks hold 24 (1 + 7/24) = 31.
TEST(PeakChunksInFlight, MatchesTheInterleavingFactorOfKorthikanti) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {8, 3, 64}, 0), 31);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {35, 3, 280}, 0), 139);  // 105 (1 + 34/105)
}

TEST(PeakChunksInFlight, DoesNotOverflowOnAnEnormousBatch) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, {2, 10'000, 10'000'000}, 0), 2 + 9'999 * 2 + 1);
}

}  // namespace
}  // namespace headway
