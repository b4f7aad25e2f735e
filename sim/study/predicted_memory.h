#pragma once

#include "sim/model/transformer.h"
#include "sim/profile/profile.h"
#include "sim/result/prediction.h"
#include "sim/strategy/strategy.h"

namespace headway {

/// What the stages of a job hold against what its accelerators can.
[[nodiscard]] MemoryPrediction predicted_memory(const TransformerModel& model,
                                                const Strategy& strategy, const Profile& profile);

}  // namespace headway
