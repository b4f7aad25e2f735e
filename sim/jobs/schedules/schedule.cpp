#include "sim/jobs/schedules/schedule.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {

bool takes(const Schedule& schedule, const PipelineShape& shape) {
  if (shape.stages == 1 && (schedule.needs_pipeline || shape.virtual_stages > 1)) return false;
  if (shape.stages % schedule.stage_multiple != 0) return false;
  if (!schedule.interleaves() && shape.virtual_stages != schedule.chunks) return false;
  const MicroBatchNeed need = schedule.needed(shape);
  return shape.micro_batches >= need.least && shape.micro_batches % need.multiple == 0;
}

std::vector<ScheduleStep> stage_schedule(const Schedule& schedule, const PipelineShape& shape,
                                         int stage) {
  HEADWAY_CHECK(stage >= 0 && stage < shape.stages, "no such stage");
  HEADWAY_CHECK(takes(schedule, shape), "a schedule that such a pipeline cannot have");
  return schedule.steps(shape, stage);
}

int chunk_position(const Schedule& schedule, int stage, int chunk, int stages) {
  switch (schedule.course) {
    case Course::rounds:
      return chunk * stages + stage;
    case Course::there_and_back:
      return chunk == 0 ? stage : 2 * stages - 1 - stage;
    case Course::from_either_end:
      return chunk == 0 ? stage : stages - 1 - stage;
  }
  HEADWAY_CHECK(false, "unknown course");
}

ChunkPlace chunk_place(const Schedule& schedule, int position, int copy, int stages) {
  switch (schedule.course) {
    case Course::rounds:
      return {.stage = position % stages, .chunk = position / stages};
    case Course::there_and_back:
      if (position < stages) return {.stage = position, .chunk = 0};
      return {.stage = 2 * stages - 1 - position, .chunk = 1};
    case Course::from_either_end:
      return {.stage = copy == 0 ? position : stages - 1 - position, .chunk = copy};
  }
  HEADWAY_CHECK(false, "unknown course");
}

int held_after(StepKind kind) {
  switch (kind) {
    case StepKind::forward:
      return 1;
    case StepKind::input_gradient:
      return 0;
    case StepKind::backward:
    case StepKind::weight_gradient:
      return -1;
  }
  HEADWAY_CHECK(false, "unknown step");
}

int peak_chunks_in_flight(const Schedule& schedule, const PipelineShape& shape, int stage) {
  if (schedule.in_flight != nullptr) {
    HEADWAY_CHECK(takes(schedule, shape), "a schedule that such a pipeline cannot have");
    return static_cast<int>(schedule.in_flight(shape, stage));
  }
  int held = 0;
  int peak = 0;
  for (const ScheduleStep& step : stage_schedule(schedule, shape, stage)) {
    held += held_after(step.kind);
    peak = std::max(peak, held);
  }
  return peak;
}

}  // namespace headway
