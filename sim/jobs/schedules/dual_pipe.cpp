#include <algorithm>
#include <array>

#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// Steps of a stage, its chunks told apart by which end is nearer: `near` micro-batches reach it
/// early and leave it late, `far` ones the other way round.
class DualPipeWriter {
 public:
  DualPipeWriter(int stage, int stages)
      : near_chunk_(2 * stage < stages ? 0 : 1), distance_(std::min(stage, stages - 1 - stage)) {}

  enum End : std::size_t { near, far };

  /// Stages between this one and the nearer end.
  [[nodiscard]] int distance() const { return distance_; }

  void forward(End end) { add(StepKind::forward, end, forwards_[end]++); }
  void backward(End end) { add(StepKind::backward, end, backwards_[end]++); }
  void input_gradient(End end) {
    postponed_.push_back({end, backwards_[end]});
    add(StepKind::input_gradient, end, backwards_[end]++);
  }
  /// Adds that of the micro-batch which waits longest.
  void weight_gradient() {
    const auto [end, micro_batch] = postponed_[weights_done_++];
    add(StepKind::weight_gradient, end, micro_batch);
  }
  void merged(End forward_end, End backward_end) {
    forward(forward_end);
    steps_.back().merged = true;
    backward(backward_end);
  }
  [[nodiscard]] std::vector<ScheduleStep> finished() && { return std::move(steps_); }

 private:
  struct Postponed {
    End end;
    int micro_batch;
  };
  void add(StepKind kind, End end, int micro_batch) {
    const int chunk = end == near ? near_chunk_ : 1 - near_chunk_;
    steps_.push_back({.kind = kind, .chunk = chunk, .micro_batch = micro_batch});
  }

  int near_chunk_;
  int distance_;
  std::vector<ScheduleStep> steps_;
  std::array<int, 2> forwards_{};
  std::array<int, 2> backwards_{};
  std::vector<Postponed> postponed_;
  std::size_t weights_done_ = 0;
};

std::vector<ScheduleStep> dual_pipe_steps(const PipelineShape& shape, int stage) {
  const int stages = shape.stages;
  DualPipeWriter writer(stage, stages);
  constexpr auto kNear = DualPipeWriter::near;
  constexpr auto kFar = DualPipeWriter::far;
  const int from_end = writer.distance();
  const int from_middle = stages / 2 - 1 - from_end;

  // Until the far end's first micro-batch is here, and until its first gradient is.
  for (int i = 0; i < 2 * from_middle; ++i) writer.forward(kNear);
  for (int i = 0; i <= from_end; ++i) {
    writer.forward(kNear);
    writer.forward(kFar);
  }
  for (int i = 0; i < from_middle; ++i) {
    writer.input_gradient(kFar);
    writer.weight_gradient();
    writer.forward(kFar);
  }
  for (int i = 0; i < shape.micro_batches / 2 - stages + from_end + 1; ++i) {
    if (i == 0 && from_middle == 0) {  // the middle stages' first pair: the gradient need not wait
      writer.forward(kNear);
      writer.backward(kFar);
    } else {
      writer.merged(kNear, kFar);
    }
    writer.merged(kFar, kNear);
  }
  // No more micro-batches from the near end, then none from the far one.
  for (int i = 0; i < from_middle; ++i) {
    writer.backward(kFar);
    writer.merged(kFar, kNear);
  }
  // In the second half of what follows weights wait: the other stages need the input's gradients.
  for (int i = 0; i < 2 * (from_end + 1); ++i) {
    const auto end = i % 2 == 0 ? kFar : kNear;
    if (i > from_end) {
      writer.input_gradient(end);
    } else {
      writer.backward(end);
    }
  }
  for (int i = 0; i < from_middle; ++i) {
    writer.weight_gradient();
    writer.input_gradient(kNear);
  }
  for (int i = 0; i <= from_end; ++i) writer.weight_gradient();
  return std::move(writer).finished();
}

}  // namespace

/// Section 3.2.1 and figure 5: half of the micro-batches from each end, each end counting its own.
/// A forward and a backward pass of opposite ends run merged. Gradients of inputs as long as
/// forward passes, those of weights no longer: the bubble is (p/2-1) (merged pair + backward - 3
/// weight gradient).
Schedule dual_pipe() {
  return {.name = "dualpipe",
          .title = "DualPipe",
          .what = "DualPipe has the model twice and is fed from both ends.",
          .source = "DeepSeek-V3, 2024 (arXiv:2412.19437), 3.2.1",
          .course = Course::from_either_end,
          .splits_backward = true,
          .needs_pipeline = true,
          .stage_multiple = 2,
          .need = [](const PipelineShape& shape) -> MicroBatchNeed {
            return {.least = 2 * std::int64_t{shape.stages}, .multiple = 2};
          },
          .need_text =
              "dualpipe needs an even number of micro-batches, twice pipeline_parallel at least",
          .steps = dual_pipe_steps,
          .bubble =
              [](const PipelineShape& shape, const PassTimes& times) {
                const double pair = times.forward + times.backward;
                return (shape.stages / 2.0 - 1.0) * (pair + times.backward - 3.0 * times.weight);
              }};
}

}  // namespace headway
