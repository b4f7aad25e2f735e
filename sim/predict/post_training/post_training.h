#pragma once

#include "sim/programs/cause.h"
#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// The share that forward passes have of an iteration: what is neither exchanged between replicas
/// nor the optimizer's, times the forward part of what stages compute and exchange in both passes.
/// The pipeline's bubble is as long a part of either.
[[nodiscard]] double forward_share(const Scenario& scenario, const TimeByCause& breakdown);

/// A step of the scenario's reinforcement learning, whose training iterations take `iteration` of
/// this breakdown:
///
///   step = generation + log probabilities + training + transfer of the weights
///
/// where the same accelerators do all in turns, or others generate for the very next step; where
/// rollouts may be s > 0 steps older
///
///   step = max(generation of s steps / s, log probabilities + training) + transfer
///
/// (Noukhovitch et al. 2024, arXiv:2410.18252, section 3). Training is as many iterations as the
/// tokens of the rollouts make. The weights go in 16 bits from where they are trained to whoever
/// generates: gathered by all accelerators where they are the same, sent by one to all others.
[[nodiscard]] PostTraining post_training(const Scenario& scenario, Seconds iteration,
                                         const TimeByCause& breakdown);

}  // namespace headway
