#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/costs/work_cost.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/programs/stage_costs/group_link.h"
#include "sim/programs/stage_costs/pass_traffic.h"

namespace headway {

struct Strategy;

/// What tensor-parallel ranks wait for each other in one pass through a layer, and what share that
/// is of all the time that their collectives take.
struct TensorExchangeTime {
  Seconds forward;
  Seconds backward;
  double forward_seen = 1.0;
  double backward_seen = 1.0;
};

/// Tensor-parallel traffic of a layer: in each pass an all-reduce for each of its exchanges (for
/// attention and for the MLP), or with sequence parallelism two pairs of all-gather and
/// reduce-scatter, of the same bytes (Korthikanti et al. 2022, section 4.2.2): each 2 (t-1)/t of
/// the layer's 16-bit input. Experts are not split that way; a shared one is. What is gathered may
/// have been quantised before (gathered_message).
///
/// What only enters the layer, the other sequence of cross attention, has the gathering in the
/// forward pass and the sum of its gradient in the backward one, and nothing of the other two.
///
/// Where the backward pass overlaps, an all-reduce of an input's gradient runs beside the gradient
/// of the weights, which does not wait for it; with sequence parallelism the input, kept in parts,
/// is gathered beside the gradient of the data, the gradient of the data is reduced and scattered
/// beside that of the weights, and what is left to see are the all-gathers of gradients that come
/// in (Korthikanti et al. 2022, sections 4.2.2 and 6.2; Megatron-Core, tensor_parallel/layers.py,
/// LinearWithGradAccumulationAndAsyncCommunication). What runs side by side slows each other down
/// by `sharded_interference` of the shorter one.
[[nodiscard]] TensorExchangeTime tensor_exchange(const Strategy& strategy, const Profile& profile,
                                                 const GroupLink& link, const Layer& layer,
                                                 const RankShape& shape,
                                                 const ColumnGradients& gradients);

/// What a rank sends for it around the ring: (t-1)/t of the layer's input gathered and as much
/// reduced each, and where kept parts are gathered again for the backward pass that once more.
[[nodiscard]] PassTraffic tensor_traffic(const Strategy& strategy, const Layer& layer,
                                         const RankShape& shape);

}  // namespace headway
