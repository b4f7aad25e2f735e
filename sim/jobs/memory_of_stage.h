#pragma once

#include "sim/jobs/memory.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {

/// What a rank of one stage holds; `stage_memory` has it of all. For those who look for a stage
/// that does not fit. Requires 0 <= stage < pipeline_parallel.
[[nodiscard]] StageMemory memory_of_stage(const Model& model, const Strategy& strategy, int stage);

/// The part that no pass adds to: parameters, gradients and optimizer states (with the host's).
[[nodiscard]] StageMemory states_of_stage(const Model& model, const Strategy& strategy, int stage);

}  // namespace headway
