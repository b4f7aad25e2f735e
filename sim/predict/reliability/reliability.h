#pragma once

#include <optional>

#include "sim/result/prediction.h"
#include "sim/result/reliability.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Draws histories of the scenario's job, whose iterations take `iteration_time` while nothing
/// breaks. Requires scenario.reliability. Where `input` says what checkpoints beside steps that
/// read take, and make of these, that counts.
[[nodiscard]] ReliabilityPrediction reliability(const Scenario& scenario, Seconds iteration_time,
                                                const std::optional<InputUse>& input = {});

}  // namespace headway
