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
using testing::PassTimes;
using testing::PipelineShape;

constexpr PipelineSchedule kGpipe = PipelineSchedule::gpipe;
constexpr PipelineSchedule kOneFOneB = PipelineSchedule::one_f_one_b;

ScheduleStep forward(int chunk, int micro_batch) { return {StepKind::forward, chunk, micro_batch}; }
ScheduleStep backward(int chunk, int micro_batch) {
  return {StepKind::backward, chunk, micro_batch};
}

std::vector<PipelineShape> shapes() {
  std::vector<PipelineShape> shapes;
  for (const int stages : {1, 2, 3, 4, 8, 12}) {
    for (const int micro_batches : {1, 2, 3, 5, 8, 24}) {
      shapes.push_back({kGpipe, stages, 1, micro_batches});
      shapes.push_back({kOneFOneB, stages, 1, micro_batches});
    }
  }
  for (const int stages : {2, 3, 4, 8}) {
    for (const int virtual_stages : {2, 3, 5}) {
      for (const int groups : {1, 2, 3, 7}) {
        shapes.push_back({kOneFOneB, stages, virtual_stages, groups * stages});
      }
    }
  }
  return shapes;
}

std::string name(const PipelineShape& shape) {
  return (shape.schedule == kGpipe ? "gpipe p" : "1f1b p") + std::to_string(shape.stages) + " v" +
         std::to_string(shape.virtual_stages) + " m" + std::to_string(shape.micro_batches);
}

std::vector<ScheduleStep> steps_of(const PipelineShape& shape, int stage) {
  return stage_schedule(shape.schedule, stage, shape.stages, shape.virtual_stages,
                        shape.micro_batches);
}

TEST(StageSchedule, GpipeDoesAllForwardPassesFirst) {
  EXPECT_THAT(stage_schedule(kGpipe, 1, 2, 1, 3),
              ElementsAre(forward(0, 0), forward(0, 1), forward(0, 2), backward(0, 0),
                          backward(0, 1), backward(0, 2)));
}

TEST(StageSchedule, OneFOneBWarmsUpByTheStagesBehind) {
  EXPECT_THAT(stage_schedule(kOneFOneB, 1, 4, 1, 4),
              ElementsAre(forward(0, 0), forward(0, 1),  // two stages behind
                          forward(0, 2), backward(0, 0), forward(0, 3), backward(0, 1),
                          backward(0, 2), backward(0, 3)));
}

TEST(StageSchedule, TheLastStageOfOneFOneBAlternatesFromTheStart) {
  EXPECT_THAT(stage_schedule(kOneFOneB, 3, 4, 1, 2),
              ElementsAre(forward(0, 0), backward(0, 0), forward(0, 1), backward(0, 1)));
}

// Megatron-LM's get_model_chunk_id with two stages and two chunks: passes 0 to 7 go through chunks
// 0 0 1 1 0 0 1 1 (forward) and 1 1 0 0 1 1 0 0 (backward), on micro-batches 0 1 0 1 2 3 2 3.
// Stage 1 warms up with 2 x 0 + 1 x 2 = 2 passes, stage 0 with 2 x 1 + 1 x 2 = 4.
TEST(StageSchedule, InterleavedOrdersChunksAsMegatronDoes) {
  EXPECT_THAT(
      stage_schedule(kOneFOneB, 1, 2, 2, 4),
      ElementsAre(forward(0, 0), forward(0, 1),  // warm-up
                  forward(1, 0), backward(1, 0), forward(1, 1), backward(1, 1), forward(0, 2),
                  backward(0, 0), forward(0, 3), backward(0, 1), forward(1, 2), backward(1, 2),
                  forward(1, 3), backward(1, 3), backward(0, 2), backward(0, 3)));
  EXPECT_THAT(stage_schedule(kOneFOneB, 0, 2, 2, 4),
              ElementsAre(forward(0, 0), forward(0, 1), forward(1, 0), forward(1, 1),  // warm-up
                          forward(0, 2), backward(1, 0), forward(0, 3), backward(1, 1),
                          forward(1, 2), backward(0, 0), forward(1, 3), backward(0, 1),
                          backward(1, 2), backward(1, 3), backward(0, 2), backward(0, 3)));
}

TEST(StageSchedule, EachPassHappensOnceAndForwardFirst) {
  for (const PipelineShape& shape : shapes()) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      SCOPED_TRACE(name(shape) + " stage " + std::to_string(stage));
      std::set<std::pair<int, int>> forward_done;
      std::set<std::pair<int, int>> backward_done;
      for (const ScheduleStep& step : steps_of(shape, stage)) {
        const std::pair pass{step.chunk, step.micro_batch};
        ASSERT_TRUE(step.chunk >= 0 && step.chunk < shape.virtual_stages);
        ASSERT_TRUE(step.micro_batch >= 0 && step.micro_batch < shape.micro_batches);
        const bool is_backward = step.kind != StepKind::forward;
        EXPECT_TRUE(!is_backward || forward_done.contains(pass));
        EXPECT_TRUE((is_backward ? backward_done : forward_done).insert(pass).second);
      }
      const auto passes = static_cast<std::size_t>(shape.virtual_stages * shape.micro_batches);
      EXPECT_EQ(forward_done.size(), passes);
      EXPECT_EQ(backward_done.size(), passes);
    }
  }
}

// A stage works m v (f + b); the pipeline fills and drains in (p - 1)(f + b), where f and b are the
// times of one chunk: (p - 1)/(v m) of the work (Narayanan et al. 2021, section 2.2).
TEST(StageSchedule, TakesTheAnalyticTime) {
  for (const PipelineShape& shape : shapes()) {
    for (const PassTimes times : {PassTimes{1.0, 1.0}, PassTimes{1.0, 2.0}, PassTimes{3.0, 7.0}}) {
      SCOPED_TRACE(name(shape));
      const double pass = times.forward + times.backward;
      const double work = shape.micro_batches * shape.virtual_stages * pass;
      const double bubble = (shape.stages - 1) * pass;
      EXPECT_DOUBLE_EQ(
          makespan(shape.schedule, shape.stages, shape.virtual_stages, shape.micro_batches, times),
          work + bubble);
      EXPECT_NEAR(bubble_fraction(shape.stages, shape.virtual_stages, shape.micro_batches),
                  bubble / work, 1e-15);
    }
  }
}

TEST(StageSchedule, RefusesWhatCannotInterleave) {
  EXPECT_THROW(static_cast<void>(stage_schedule(kGpipe, 0, 2, 2, 4)), InternalError);
  EXPECT_THROW(static_cast<void>(stage_schedule(kOneFOneB, 0, 2, 2, 3)), InternalError);
  EXPECT_THROW(static_cast<void>(stage_schedule(kOneFOneB, 0, 1, 2, 4)), InternalError);
  EXPECT_THROW(static_cast<void>(stage_schedule(kOneFOneB, 2, 2, 1, 4)), InternalError);
}

TEST(PeakChunksInFlight, CountsWhatTheScheduleHolds) {
  for (const PipelineShape& shape : shapes()) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      SCOPED_TRACE(name(shape) + " stage " + std::to_string(stage));
      int held = 0;
      int peak = 0;
      for (const ScheduleStep& step : steps_of(shape, stage)) {
        held += held_after(step.kind);
        peak = std::max(peak, held);
      }
      EXPECT_EQ(peak_chunks_in_flight(shape.schedule, stage, shape.stages, shape.virtual_stages,
                                      shape.micro_batches),
                peak);
    }
  }
}

TEST(PeakChunksInFlight, IsTheStagesFromHereOnInOneFOneB) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 0, 8, 1, 64), 8);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 7, 8, 1, 64), 1);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 0, 8, 1, 3), 3);  // no more than there are
  EXPECT_EQ(peak_chunks_in_flight(kGpipe, 7, 8, 1, 64), 64);
}

// Korthikanti et al. 2022, section 4.2.3: interleaving holds L (1 + (p - 1)/(p m)) layers on the
// first stage, m being chunks a stage: 8 stages of 3 chunks hold 24 (1 + 7/24) = 31.
TEST(PeakChunksInFlight, MatchesTheInterleavingFactorOfKorthikanti) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 0, 8, 3, 64), 31);
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 0, 35, 3, 280), 139);  // 105 (1 + 34/105)
}

TEST(PeakChunksInFlight, DoesNotOverflowOnAnEnormousBatch) {
  EXPECT_EQ(peak_chunks_in_flight(kOneFOneB, 0, 2, 10'000, 10'000'000), 2 + 9'999 * 2 + 1);
}

TEST(BubbleFraction, ShrinksWithChunksAndMicroBatches) {
  EXPECT_DOUBLE_EQ(bubble_fraction(8, 1, 32), 7.0 / 32.0);
  EXPECT_DOUBLE_EQ(bubble_fraction(8, 4, 32), 7.0 / 128.0);
  EXPECT_DOUBLE_EQ(bubble_fraction(1, 1, 32), 0.0);
}

}  // namespace
}  // namespace headway
