#pragma once

#include "sim/cluster/cluster.h"
#include "sim/model/transformer.h"
#include "sim/profile/kernel_cost.h"
#include "sim/profile/profile.h"
#include "sim/strategy/strategy.h"
#include "sim/workload/cause.h"
#include "sim/workload/flow_plans.h"

namespace headway {

/// What the pieces of a micro-batch take on one rank of nominal speed, tensor- and context-parallel
/// traffic included (nobody else uses the scale-up fabric, so its closed forms stand).
struct StageCost {
  TimeByCause layer_forward;
  TimeByCause layer_backward;
  TimeByCause layer_recompute;  ///< what the backward pass of a layer that recomputes runs again
  TimeByCause layer_weight;     ///< part of it: gradients of the weights, which nobody waits for
  TimeByCause layer_offload_forward;   ///< what hides neither behind the layer that goes to the
  TimeByCause layer_offload_backward;  ///< host's memory, nor behind the one that comes back
  TimeByCause embedding_forward;
  TimeByCause embedding_backward;  ///< gradients of weights, all of it
  TimeByCause head_forward;        ///< output head and loss
  TimeByCause head_backward;
  TimeByCause head_weight;
  Seconds micro_batch_overhead;  ///< of a stage, with every micro-batch
  Seconds step_overhead;         ///< once an iteration: what the host does while the device idles
  double spread = 0.0;           ///< one standard deviation of a layer's time, relative
  bool extrapolated = false;     ///< some cost lies outside what was measured or fitted
};

/// Adds up kernel costs over the operators of a layer (COST MODEL: README.md of this folder).
[[nodiscard]] StageCost stage_cost(const TransformerModel& model, const Strategy& strategy,
                                   const Profile& profile, const Cluster& cluster);

/// Time of an optimizer step over `parameters` local parameters of which this rank updates
/// `updated`: the memory traffic of Adam, and of the gradient norm over all of them.
[[nodiscard]] Seconds optimizer_time(const Profile& profile, double parameters, double updated);

}  // namespace headway
