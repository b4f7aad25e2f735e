#pragma once

#include "sim/costs/profile.h"
#include "sim/costs/steps/training_step.h"
#include "sim/network/topology.h"
#include "sim/programs/workload.h"

namespace headway {

/// A training step as the engine runs it.
struct StepWorkload {
  Workload workload;
  Topology topology;  ///< a link for each rank, around one switch
};

/// What every rank does in the `index`-th run of a step, with the jitter it draws there, at the
/// costs of `profile`: products and passes by its tables, an all-reduce (a ring over the links of
/// its ranks) at the rate that was measured, activations between stages over links of the rate that
/// was measured for a message of their size, less what their buckets let through at once. Where
/// there are stages, a group of its own for each rank sends its messages one after the other.
/// Nothing is fitted to training steps.
///
/// Throws InputError where the profile lacks a collective of that size and group: a formula in its
/// place would not be a test of the profile.
[[nodiscard]] StepWorkload step_workload(const TrainingStep& step, int ranks,
                                         const Profile& profile, int index);

}  // namespace headway
