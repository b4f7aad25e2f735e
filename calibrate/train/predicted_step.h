#pragma once

#include "calibrate/train/training_step.h"
#include "sim/profile/profile.h"

namespace headway {

/// How long a profile says that a step takes on `ranks` ranks of one scope, in seconds: the median
/// over the steps, with the jitter that the ranks draw. Two streams a rank: compute in program
/// order, and all-reduces one after the other, each from when the last rank is ready for it.
/// Nothing was fitted to training steps.
[[nodiscard]] double predicted_step_time(const TrainingStep& step, int ranks,
                                         const Profile& profile);

}  // namespace headway
