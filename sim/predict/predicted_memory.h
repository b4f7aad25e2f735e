#pragma once

#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What the stages of the scenario's job, split as `strategy`, hold against what the accelerators
/// that they stand on can. The fullest stage is the one with the least room for its size.
/// What they offload is held against what the nodes have, where their types say it.
[[nodiscard]] MemoryPrediction predicted_memory(const Scenario& scenario, const Strategy& strategy);

}  // namespace headway
