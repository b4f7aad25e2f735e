#pragma once

#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/result/prediction.h"

namespace headway {

/// What the stages of a job hold against what its accelerators can.
[[nodiscard]] MemoryPrediction predicted_memory(const Model& model,
                                                const Strategy& strategy, const Profile& profile);

}  // namespace headway
