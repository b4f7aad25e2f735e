#pragma once

#include "sim/predict/job_run.h"
#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What the accelerators of each kind did in the median iteration. Rank groups that share a program
/// count as the first of them.
[[nodiscard]] KindsUse kind_use(const Scenario& scenario, const JobRun& run,
                                const MemoryPrediction& memory);

}  // namespace headway
