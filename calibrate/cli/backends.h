#pragma once

#include "calibrate/cli/calibrate.h"

namespace headway {

// Each measures with its backend and returns the exit code. One that this build lacks throws
// EnvironmentError saying what to build it with.
[[nodiscard]] int calibrate_cpu(const Job& job, const PlanRules& rules);
[[nodiscard]] int calibrate_cuda(const Job& job, const PlanRules& rules);
/// Runs the training steps of --steps and writes what they took.
[[nodiscard]] int train_cpu(const Job& job);
/// Builds the profile of what was measured before, from the file of --from. Returns the exit code:
/// 0, or 3 if that calibration ended early.
[[nodiscard]] int refit(const Job& job);
[[nodiscard]] int calibrate_fake(const Job& job, const PlanRules& rules);

}  // namespace headway
