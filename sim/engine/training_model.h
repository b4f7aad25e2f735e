#pragma once

#include <simgrid/kernel/resource/Model.hpp>

#include "sim/engine/executor.h"

namespace headway {

/// The executor as a model of SimGrid's kernel: SimGrid asks it when something happens next and
/// moves the clock, together with its own network model. Events of the executor need no activity,
/// actor or host of SimGrid, whose cost grows with the number of live ones.
class TrainingModel : public simgrid::kernel::resource::Model {
 public:
  /// `executor` outlives this object.
  explicit TrainingModel(Executor& executor);

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  Executor& executor_;
};

}  // namespace headway
