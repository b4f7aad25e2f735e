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
  builder_.run(add_pass(kind, cost));
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

std::int32_t BodyWriter::add_pass(StepKind kind, const PassCost& cost) {
  switch (kind) {
    case StepKind::forward:
      return builder_.add_pass("forward", cost.forward, cost.sent_forward);
    case StepKind::backward:
      return builder_.add_pass("backward", cost.backward, cost.sent_backward);
    case StepKind::input_gradient:
      return builder_.add_pass("input gradient", cost.input, cost.sent_backward);
    case StepKind::weight_gradient:
      return builder_.add_pass("weight gradient", cost.weight, {});
  }
  HEADWAY_CHECK(false, "unknown step");
}

}  // namespace headway
