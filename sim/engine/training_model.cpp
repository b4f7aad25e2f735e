#include "sim/engine/training_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {

TrainingModel::TrainingModel(Executor& executor) : Model("training"), executor_(executor) {}

double TrainingModel::next_occurring_event(double now) {
  const double next = executor_.next_time();
  return next < 0.0 ? -1.0 : std::max(0.0, next - now);
}

void TrainingModel::update_actions_state(double now, double /*delta*/) {
  // The clock was moved by adding a difference: it may stand one rounding short of the event.
  executor_.advance_to(std::nextafter(now, std::numeric_limits<double>::infinity()));
}

}  // namespace headway
