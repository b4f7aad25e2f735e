#include "sim/engine/training_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {
namespace {

/// A step goes through all of SimGrid's models, which costs as much as some twenty events.
constexpr int kMomentsOfStep = 4096;

}  // namespace

TrainingModel::TrainingModel() : Model("training") {}

void TrainingModel::take(Executor& executor, OthersInEngine others, double clock) {
  executor_ = &executor;
  others_ = others;
  began_ = clock;
}

double TrainingModel::next_occurring_event(double now) {
  if (others_ == OthersInEngine::nobody) {
    const double last = executor_->advance_moments(kMomentsOfStep);
    return last < 0.0 ? -1.0 : std::max(0.0, began_ + last - now);
  }
  const double next = executor_->next_time();
  return next < 0.0 ? -1.0 : std::max(0.0, began_ + next - now);
}

void TrainingModel::update_actions_state(double now, double /*delta*/) {
  if (others_ == OthersInEngine::nobody) return;
  // The clock was moved by adding a difference: it may stand one rounding short of the event.
  executor_->advance_to(std::nextafter(now - began_, std::numeric_limits<double>::infinity()));
}

}  // namespace headway
