#pragma once

#include <vector>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/profile.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/programs/cause.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/stage_costs/exchange_flow.h"
#include "sim/programs/stage_costs/group_place.h"
#include "sim/programs/stage_costs/optimizer_cost.h"

namespace headway {

struct Strategy;

/// What one layer takes, exchanges on an idle fabric included.
struct LayerCost {
  TimeByCause forward;
  TimeByCause backward;
  TimeByCause recompute;         ///< what the backward pass of a layer that recomputes runs again
  TimeByCause weight;            ///< part of it: gradients of the weights, which nobody waits for
  TimeByCause offload_forward;   ///< what hides neither behind the layer that goes to the host's
  TimeByCause offload_backward;  ///< memory, nor behind the one that comes back
  PassFlows forward_flows;       ///< what of it crosses the fabric
  PassFlows backward_flows;
  PassFlows recompute_flows;
  OrthogonalTime orthogonal;  ///< of the optimizer, where it is one that orthogonalises
};

/// What the pieces of a micro-batch take on one rank of nominal speed, tensor-, context- and
/// expert-parallel traffic included: inside a scale-up domain as a closed form, since nobody else
/// uses its fabric, and beyond it as time on an idle fabric with the bytes that flows carry.
struct StageCost {
  std::vector<LayerCost> layers;  ///< by place in Model::kinds
  TimeByCause embedding_forward;
  TimeByCause embedding_backward;  ///< gradients of weights, all of it
  TimeByCause head_forward;        ///< output head and loss, multi-token prediction layers included
  TimeByCause head_backward;
  TimeByCause head_weight;
  PassFlows head_forward_flows;  ///< of multi-token prediction layers
  PassFlows head_backward_flows;
  Seconds micro_batch_overhead;  ///< of a stage, with every micro-batch
  Seconds sharded_part;          ///< of the host, for a rank's part of a sharded matrix
  Seconds step_overhead;         ///< once an iteration: what the host does while the device idles
  double spread = 0.0;           ///< one standard deviation of the layers' time, relative
  bool extrapolated = false;     ///< some cost lies outside what was measured or fitted

  [[nodiscard]] const LayerCost& layer(int kind = 0) const {
    return layers[static_cast<std::size_t>(kind)];
  }
};

/// Adds up kernel costs over the operators of a layer (COST MODEL: README.md of this folder), for a
/// rank in a node of that type whose groups stand like that.
[[nodiscard]] StageCost stage_cost(const Model& model, const Strategy& strategy,
                                   const Profile& profile, const NodeType& node,
                                   const ExchangePlaces& places);
/// For ranks of the first type of node that stand as well as can be, tensor-parallel ones side by
/// side.
[[nodiscard]] StageCost stage_cost(const Model& model, const Strategy& strategy,
                                   const Profile& profile, const Cluster& cluster);

}  // namespace headway
