#include "sim/jobs/schedules/warm_up.h"

namespace headway {
namespace {

/// The forward or the backward passes of any stage, one after the other.
class PassesInTurn {
 public:
  PassesInTurn(const PipelineShape& shape, StepKind kind) : shape_(shape), kind_(kind) {}

  ScheduleStep next() {
    const int last = shape_.virtual_stages - 1;
    const ScheduleStep step{.kind = kind_,
                            .chunk = kind_ == StepKind::backward ? last - turn_ : turn_,
                            .micro_batch = first_ + place_};
    if (++place_ == shape_.stages) {
      place_ = 0;
      turn_ = turn_ == last ? 0 : turn_ + 1;
      if (turn_ == 0) first_ += shape_.stages;
    }
    return step;
  }

 private:
  const PipelineShape& shape_;
  StepKind kind_;
  int first_ = 0;  ///< micro-batch of the group, which has as many as there are stages
  int place_ = 0;  ///< of the next one in its group
  int turn_ = 0;   ///< which chunk the group goes through
};

}  // namespace

std::vector<ScheduleStep> warmed_up_steps(const PipelineShape& shape, std::int64_t warm_up) {
  const std::int64_t passes = std::int64_t{shape.micro_batches} * shape.virtual_stages;
  std::vector<ScheduleStep> steps;
  steps.reserve(2 * static_cast<std::size_t>(passes));
  PassesInTurn forward(shape, StepKind::forward);
  PassesInTurn backward(shape, StepKind::backward);
  for (std::int64_t i = 0; i < warm_up; ++i) steps.push_back(forward.next());
  for (std::int64_t i = 0; i < passes; ++i) {
    if (i + warm_up < passes) steps.push_back(forward.next());
    steps.push_back(backward.next());
  }
  return steps;
}

double fill_and_drain(const PipelineShape& shape, const PassTimes& times) {
  return (shape.stages - 1) * (times.forward + times.backward);
}

}  // namespace headway
