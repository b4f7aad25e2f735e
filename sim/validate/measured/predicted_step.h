#pragma once

#include "sim/costs/profile.h"
#include "sim/costs/steps/training_step.h"

namespace headway {

/// How long a step takes by a profile: simulated (step_workload.h), the median over its runs, with
/// the jitter that the ranks draw in each. `jobs` simulations at a time.
[[nodiscard]] Seconds predicted_step_time(const TrainingStep& step, int ranks,
                                          const Profile& profile, int jobs = 1);

}  // namespace headway
