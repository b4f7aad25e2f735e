#include <algorithm>
#include <array>

#include "sim/jobs/schedules/split_schedules.h"

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

}  // namespace

std::vector<ScheduleStep> zb_h1_schedule(int stage, int stages, int micro_batches) {
  const int warm_up = std::min(stages - stage - 1, micro_batches);
  std::vector<ScheduleStep> steps;
  const auto add = [&](StepKind kind, int micro_batch) {
    steps.push_back({.kind = kind, .chunk = 0, .micro_batch = micro_batch});
  };
  for (int i = 0; i < warm_up; ++i) add(StepKind::forward, i);
  for (int i = 0; i < micro_batches; ++i) {
    if (i + warm_up < micro_batches) add(StepKind::forward, i + warm_up);
    add(StepKind::input_gradient, i);
    if (i >= stage) add(StepKind::weight_gradient, i - stage);
  }
  for (int i = std::max(0, micro_batches - stage); i < micro_batches; ++i) {
    add(StepKind::weight_gradient, i);
  }
  return steps;
}

std::vector<ScheduleStep> zb_v_schedule(int stage, int stages, int micro_batches) {
  TwoChunkWriter writer;
  const int behind = stages - stage;
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

}  // namespace headway
