#pragma once

#include "sim/costs/profile.h"
#include "sim/costs/steps/training_step.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"

namespace headway {

/// A training step that was really run, as a job like any other: a model in layers, a strategy, a
/// profile, and ranks that stand alone around one switch.
struct StepJob {
  Model model;
  Strategy strategy;
  Profile profile;
  Cluster cluster;
  Placement placement;
  BytesPerSecond message_rate;  ///< that lasts, of messages between stages; 0 without stages
};

/// Square layers with an activation in fp32, and a loss behind them.
[[nodiscard]] Model step_model(const TrainingStep& step);

/// Into `job`, which stays where it is. Its profile is `profile` but for what is assumed there and
/// would be held against nothing measured: an overlap that hides all it can, links that are as fast
/// as was measured. Emulated compute has a device of its own, of that rate and without any memory
/// to wait for.
///
/// Throws InputError where the profile lacks a collective of the needed size and group: a formula
/// in its place would not be a test of the profile.
void fill_step_job(StepJob& job, const TrainingStep& step, int ranks, const Profile& profile);

}  // namespace headway
