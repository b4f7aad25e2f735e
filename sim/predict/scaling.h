#pragma once

#include <functional>
#include <optional>

#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// The job that scaling efficiency is measured against: the same work for each replica on
/// `accelerators`, or, where nobody says how many, the smallest that keeps tensor, context and
/// pipeline parallelism and fits in memory. Nothing where there is none but the job itself, or
/// nodes are of several kinds and nobody asks: fewer of them are another mixture. Throws InputError
/// if the job cannot be scaled down to `accelerators`.
[[nodiscard]] std::optional<Strategy> reference_strategy(const Scenario& scenario,
                                                         std::optional<int> accelerators);

/// How well the job, whose steps take `step`, scales against `reference`, whose steps take
/// `reference_step`.
[[nodiscard]] ScalingReference scaling_against(const Strategy& reference, Seconds reference_step,
                                               Seconds step);

}  // namespace headway
