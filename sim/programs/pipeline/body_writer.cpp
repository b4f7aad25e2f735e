#include "sim/programs/pipeline/body_writer.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {

void BodyWriter::begin() {
  first_stretch_ = stretches_.size();
  first_operation_ = builder_.length();
}

void BodyWriter::run(StepKind kind, const PassCost& cost) {
  const auto known = std::ranges::find_if(
      passes_, [&](const Pass& pass) { return pass.kind == kind && pass.cost == &cost; });
  end_stretch();
  if (known != passes_.end()) {
    stretches_.push_back(known->operations);
    return;
  }
  write(kind, cost);
  end_stretch();
  passes_.push_back({kind, &cost, stretches_.back()});
}

Passes::Range BodyWriter::end() {
  end_stretch();
  return {first_stretch_, stretches_.size()};
}

void BodyWriter::end_stretch() {
  const std::size_t end = builder_.length();
  if (end > first_operation_) stretches_.push_back({first_operation_, end});
  first_operation_ = end;
}

void BodyWriter::write(std::string_view name, const TimeByCause& time, const PassFlows& flows) {
  builder_.run(builder_.add_pass(name, time, flows), flows);
}

void BodyWriter::write(StepKind kind, const PassCost& cost) {
  switch (kind) {
    case StepKind::forward:
      return write("forward", cost.forward, cost.sent_forward);
    case StepKind::backward:
      return write("backward", cost.backward, cost.sent_backward);
    case StepKind::input_gradient:
      return write("input gradient", cost.input, cost.sent_backward);
    case StepKind::weight_gradient:
      return write("weight gradient", cost.weight, {});
  }
  HEADWAY_CHECK(false, "unknown step");
}

}  // namespace headway
