#include "sim/jobs/schedules/split_schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/base/diagnostic.h"
#include "tests/sim/jobs/schedules/pipeline_evaluation.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::makespan;
using testing::PassTimes;
using testing::PipelineShape;

ScheduleStep step(StepKind kind, int micro_batch, int chunk = 0) {
  return {.kind = kind, .chunk = chunk, .micro_batch = micro_batch};
}
constexpr StepKind kF = StepKind::forward;
constexpr StepKind kB = StepKind::input_gradient;
constexpr StepKind kW = StepKind::weight_gradient;

std::vector<PipelineShape> split_shapes() {
  std::vector<PipelineShape> shapes;
  for (const int stages : {2, 3, 4, 6, 8}) {
    for (const int micro_batches : {1, stages, 2 * stages, 5 * stages}) {
      shapes.push_back({PipelineSchedule::zb_h1, stages, 1, micro_batches});
    }
    for (const int micro_batches : {2 * stages - 1, 2 * stages, 5 * stages}) {
      shapes.push_back({PipelineSchedule::zb_v, stages, 2, micro_batches});
    }
    if (stages % 2 != 0) continue;
    for (const int micro_batches : {2 * stages, 2 * stages + 2, 6 * stages}) {
      shapes.push_back({PipelineSchedule::dual_pipe, stages, 1, micro_batches});
    }
  }
  return shapes;
}

std::string split_name(const PipelineShape& shape) {
  return "schedule " + std::to_string(static_cast<int>(shape.schedule)) + " p" +
         std::to_string(shape.stages) + " m" + std::to_string(shape.micro_batches);
}

TEST(SplitSchedules, ZbH1PostponesWeightsByTheStagesBefore) {
  EXPECT_THAT(zb_h1_schedule(1, 3, 3),
              ElementsAre(step(kF, 0), step(kF, 1), step(kB, 0), step(kF, 2), step(kB, 1),
                          step(kW, 0), step(kB, 2), step(kW, 1), step(kW, 2)));
}

TEST(SplitSchedules, ZbVGoesThereAndBack) {
  // The last stage has both chunks of a micro-batch one after the other.
  EXPECT_THAT(
      zb_v_schedule(1, 2, 3),
      ElementsAre(step(kF, 0, 0), step(kF, 0, 1), step(kF, 1, 0), step(kF, 1, 1), step(kB, 0, 1),
                  step(kW, 0, 1), step(kF, 2, 0), step(kB, 0, 0), step(kW, 0, 0), step(kF, 2, 1),
                  step(kB, 1, 1), step(kW, 1, 1), step(kB, 1, 0), step(kB, 2, 1), step(kB, 2, 0),
                  step(kW, 1, 0), step(kW, 2, 1), step(kW, 2, 0)));
}

TEST(SplitSchedules, EveryPassIsRunOnceAndInOrder) {
  for (const PipelineShape& shape : split_shapes()) {
    SCOPED_TRACE(split_name(shape));
    const bool doubled = shape.schedule == PipelineSchedule::dual_pipe;
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::set<std::pair<int, int>> forward;
      std::set<std::pair<int, int>> backward;
      std::set<std::pair<int, int>> weight;
      for (const ScheduleStep& each : stage_schedule(shape.schedule, stage, shape.stages,
                                                     shape.virtual_stages, shape.micro_batches)) {
        const std::pair pass(each.chunk, each.micro_batch);
        if (each.kind == StepKind::forward) {
          EXPECT_TRUE(forward.insert(pass).second);
        } else if (each.kind == StepKind::weight_gradient) {
          EXPECT_TRUE(backward.contains(pass));
          EXPECT_TRUE(weight.insert(pass).second);
        } else {
          EXPECT_TRUE(forward.contains(pass));
          EXPECT_TRUE(backward.insert(pass).second);
          if (each.kind == StepKind::backward) {
            EXPECT_TRUE(weight.insert(pass).second);
          }
        }
      }
      const int chunks = doubled ? 1 : shape.virtual_stages;  // two, of half the micro-batches
      const auto passes = static_cast<std::size_t>(chunks * shape.micro_batches);
      EXPECT_EQ(forward.size(), passes);
      EXPECT_EQ(weight.size(), passes);
    }
  }
}

TEST(SplitSchedules, ZbH1HasTheBubbleOfItsPaper) {
  // (p-1) (F + B - W) where B >= W (Qi et al. 2023, section 2.2); 1F1B's is (p-1) (F + B + W).
  for (const PipelineShape& shape : split_shapes()) {
    if (shape.schedule != PipelineSchedule::zb_h1 || shape.micro_batches < shape.stages) continue;
    for (const PassTimes times : {PassTimes{1.0, 2.0, 1.0}, PassTimes{1.0, 2.0, 0.5}}) {
      const double input = times.backward - times.weight;
      const double work = shape.micro_batches * (times.forward + times.backward);
      EXPECT_NEAR(makespan(shape.schedule, shape.stages, 1, shape.micro_batches, times) - work,
                  (shape.stages - 1) * (times.forward + input - times.weight), 1e-9)
          << split_name(shape);
    }
  }
}

TEST(SplitSchedules, ZbVOfEqualPartsWaitsForTheFirstMicroBatchOnly) {
  for (const PipelineShape& shape : split_shapes()) {
    if (shape.schedule != PipelineSchedule::zb_v) continue;
    const double work = 2.0 * shape.micro_batches * 3.0;
    EXPECT_NEAR(makespan(shape.schedule, shape.stages, 2, shape.micro_batches, {1.0, 2.0, 1.0}),
                work + (shape.stages - 1), 1e-9)
        << split_name(shape);
  }
}

TEST(SplitSchedules, DualPipeHasTheBubbleOfItsReport) {
  // (p/2-1) (F&B + B - 3W), where B is the whole backward pass and F&B a merged pair (DeepSeek-V3
  // report, table 2).
  for (const PipelineShape& shape : split_shapes()) {
    if (shape.schedule != PipelineSchedule::dual_pipe) continue;
    for (const PassTimes times : {PassTimes{1.0, 2.0, 1.0}, PassTimes{2.0, 3.0, 1.0}}) {
      const double pass = times.forward + times.backward;
      EXPECT_NEAR(makespan(shape.schedule, shape.stages, 1, shape.micro_batches, times) -
                      shape.micro_batches * pass,
                  (shape.stages / 2.0 - 1.0) * (pass + times.backward - 3.0 * times.weight), 1e-9)
          << split_name(shape);
    }
  }
}

TEST(SplitSchedules, HoldNoMoreActivationsThanTheirPapersSay) {
  // ZB-H1 as many passes as 1F1B's first stage; ZB-V as many, of chunks half as large; DualPipe one
  // more than stages (DeepSeek-V3 report, table 2).
  for (const PipelineShape& shape : split_shapes()) {
    int most = 0;
    for (int stage = 0; stage < shape.stages; ++stage) {
      most = std::max(most, peak_chunks_in_flight(shape.schedule, stage, shape.stages,
                                                  shape.virtual_stages, shape.micro_batches));
    }
    const int p = shape.stages;
    const int published =
        shape.schedule == PipelineSchedule::zb_h1
            ? std::min(p, shape.micro_batches)
            : (shape.schedule == PipelineSchedule::zb_v ? std::min(2 * p, 2 * shape.micro_batches)
                                                        : p + 1);
    EXPECT_EQ(most, published) << split_name(shape);
  }
}

TEST(SplitSchedules, PlacesAndPositionsAreInverse) {
  for (const PipelineShape& shape : split_shapes()) {
    const int chunks = shape.schedule == PipelineSchedule::zb_h1 ? 1 : 2;
    for (int stage = 0; stage < shape.stages; ++stage) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int position = chunk_position(shape.schedule, stage, chunk, shape.stages);
        const ChunkPlace place = chunk_place(shape.schedule, position, chunk, shape.stages);
        EXPECT_EQ(place.stage, stage) << split_name(shape);
        EXPECT_EQ(place.chunk, chunk) << split_name(shape);
      }
    }
  }
}

TEST(SplitSchedules, ImpossibleArgumentsAreABug) {
  const auto schedule = [](PipelineSchedule kind, int stages, int virtual_stages, int batches) {
    return [=] { static_cast<void>(stage_schedule(kind, 0, stages, virtual_stages, batches)); };
  };
  EXPECT_THROW(schedule(PipelineSchedule::zb_v, 4, 1, 8)(), InternalError);
  EXPECT_THROW(schedule(PipelineSchedule::zb_v, 4, 2, 6)(), InternalError);
  EXPECT_THROW(schedule(PipelineSchedule::dual_pipe, 3, 1, 8)(), InternalError);
  EXPECT_THROW(schedule(PipelineSchedule::dual_pipe, 4, 1, 6)(), InternalError);
  EXPECT_THROW(schedule(PipelineSchedule::zb_h1, 4, 2, 8)(), InternalError);
}

}  // namespace
}  // namespace headway
