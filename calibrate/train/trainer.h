#pragma once

#include "calibrate/cpu/transport.h"
#include "sim/costs/steps/training_step.h"

namespace headway {

/// Trains for the steps of `step` on all ranks of `transport` and measures them; everybody returns
/// the same. `network` carries the all-reduces: messages of their own, as they may run on another
/// thread than the rest.
[[nodiscard]] MeasuredStep measured_step(const TrainingStep& step, Transport& transport,
                                         Transport& network);

}  // namespace headway
