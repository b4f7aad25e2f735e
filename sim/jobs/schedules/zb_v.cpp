#include <algorithm>
#include <array>

#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// Writes down steps of a stage's two chunks, counting micro-batches.
class TwoChunkWriter {
 public:
  void add(StepKind kind, std::size_t chunk) {
    int& number = done_[static_cast<std::size_t>(kind)][chunk];
    steps_.push_back({.kind = kind, .chunk = static_cast<int>(chunk), .micro_batch = number});
    ++number;
  }
  /// The gradient of an input, then the weights' that has waited longest.
  void add_backward(std::size_t chunk) {
    add(StepKind::input_gradient, chunk);
    add(StepKind::weight_gradient, chunk);
  }
  [[nodiscard]] int done(StepKind kind, std::size_t chunk) const {
    return done_[static_cast<std::size_t>(kind)][chunk];
  }
  [[nodiscard]] std::vector<ScheduleStep> finished() && { return std::move(steps_); }

 private:
  std::vector<ScheduleStep> steps_;
  std::array<std::array<int, 2>, 4> done_{};  ///< by kind and chunk
};

std::vector<ScheduleStep> zb_v_steps(const PipelineShape& shape, int stage) {
  TwoChunkWriter writer;
  const int micro_batches = shape.micro_batches;
  const int behind = shape.stages - stage;
  // The first micro-batches come back to this stage after 2 * behind - 1 forward passes.
  for (int i = 0; i < 2 * behind - 1; ++i) writer.add(StepKind::forward, 0);
  for (int i = 0; i < stage; ++i) {
    writer.add(StepKind::forward, 1);
    writer.add(StepKind::forward, 0);
  }
  for (int i = 0; i < behind; ++i) {
    writer.add(StepKind::forward, 1);
    writer.add_backward(1);
  }
  while (writer.done(StepKind::forward, 1) < micro_batches) {
    if (writer.done(StepKind::forward, 0) < micro_batches) writer.add(StepKind::forward, 0);
    writer.add_backward(0);
    writer.add(StepKind::forward, 1);
    writer.add_backward(1);
  }
  // The stages before wait for gradients of inputs; those of weights fill the gaps, then the end.
  for (int i = 0; i < stage; ++i) {
    writer.add(StepKind::input_gradient, 0);
    writer.add(StepKind::input_gradient, 1);
  }
  for (int i = 0; i < behind; ++i) writer.add_backward(0);
  for (const std::size_t chunk : {1U, 0U}) {
    while (writer.done(StepKind::weight_gradient, chunk) < micro_batches) {
      writer.add(StepKind::weight_gradient, chunk);
    }
  }
  return std::move(writer).finished();
}

}  // namespace

/// The V-shaped schedule without bubbles inside, as torch.distributed.pipelining's
/// ScheduleZBVZeroBubble runs it too. Three equal parts of a pass: what is left is the (p-1)
/// forward passes of a chunk before the last stage has work. (The authors hide those behind the end
/// of the step before, whose optimizer then does not wait for the whole model's gradient norm; that
/// is not modelled.)
Schedule zb_v() {
  return {.name = "zb_v",
          .title = "ZB-V",
          .what = "ZB-V splits backward passes too, and its two chunks a stage go there and back.",
          .source = "Qi et al. 2024 (arXiv:2405.15362)",
          .course = Course::there_and_back,
          .chunks = 2,
          .splits_backward = true,
          .needs_pipeline = true,
          .need = [](const PipelineShape& shape) -> MicroBatchNeed {
            return {.least = 2 * std::int64_t{shape.stages} - 1};
          },
          .need_text = "zb_v needs 2 pipeline_parallel - 1 micro-batches at least",
          .steps = zb_v_steps,
          .bubble = [](const PipelineShape& shape,
                       const PassTimes& times) { return (shape.stages - 1) * times.forward; }};
}

}  // namespace headway
