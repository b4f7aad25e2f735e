#pragma once

#include <vector>

#include "sim/network/placement.h"
#include "sim/programs/perturbation/perturbation.h"

namespace headway {

/// The time factors (>= 1) of a data-parallel replica's stages: of the slowest accelerator of each
/// that is listed.
using StageFactors = std::vector<double>;

/// Those of each replica with a listed slow accelerator, without such as are no slower than another
/// one in every stage. Replicas wait for each other when they sum gradients, so an iteration is as
/// long as the longest of these. Empty where none of the job's accelerators is listed.
[[nodiscard]] std::vector<StageFactors> slow_replicas(const Perturbation& perturbation,
                                                      const Placement& placement);

}  // namespace headway
