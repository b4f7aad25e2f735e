#pragma once

#include <cstdint>

#include "sim/predict/job_run.h"
#include "sim/programs/cause.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What a group's transfers and collectives take longer for slow links and faults of the fabric is
/// lost to slowness: `time` with that moved to `straggler_wait`, by the same draw on cables that
/// are as they should be. `time` as it is where nothing is wrong with them.
[[nodiscard]] TimeByCause with_slow_link_loss(TimeByCause time, const Scenario& scenario,
                                              const JobRun& run, std::int32_t group);

}  // namespace headway
