#pragma once

#include "sim/costs/steps/training_step.h"

namespace headway {

/// Products of 2 * 5 * 10 * 10 = 1000 operations at 1e6 a second: 1 ms each.
inline TrainingStep small_step(bool overlap) {
  TrainingStep step;
  step.id = "small";
  step.layers = 3;
  step.width = 10;
  step.batch = 5;
  step.overlap = overlap;
  step.emulated_flops_per_s = 1e6;
  return step;
}

}  // namespace headway
