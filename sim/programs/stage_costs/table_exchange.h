#pragma once

#include "sim/costs/profile.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/group_place.h"

namespace headway {

/// What ranks that share out the tables of a layer exchange in one pass: pooled rows on their way
/// to the samples, or gradients on their way back.
struct TableExchange {
  Seconds time;  ///< on an idle fabric
  Seconds seen;  ///< of it, what compute does not hide
  double share_seen = 1.0;
  Bytes sent;           ///< of the flow across the fabric, where some of it leaves a domain
  BytesPerSecond rate;  ///< that software reaches
  BytesPerSecond wire;  ///< that NICs could
};

/// Partial sums are scattered inside each group of ranks, then every rank hands every group its
/// part of what was pooled, all at once: what leaves the scale-up domain by the rank's NICs, the
/// rest beside it over the scale-up fabric. Whatever a rank computes meanwhile that does not wait
/// for it hides as much: `beside`, the MLP of the dense features.
[[nodiscard]] TableExchange table_exchange(const Layer& layer, const Profile& profile,
                                           const NodeType& node, const GroupPlace& place,
                                           const RankShape& shape, Seconds beside,
                                           double wire_efficiency);

}  // namespace headway
