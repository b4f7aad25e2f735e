#pragma once

#include "sim/costs/profile.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/group_place.h"

namespace headway {

struct Strategy;

/// What the ranks of an expert group send each other in one direction, for each rank and
/// micro-batch.
struct ExpertTraffic {
  Bytes exchanged;       ///< to the ranks of other experts, in all
  Bytes across_domains;  ///< of it what the busiest NICs carry
};

/// Every rank sends each token of its part of the sequence to the ranks of its experts: T k rows of
/// 16 bits, of which (e-1)/e leave an expert-parallel group of e. Of a group that has n_a ranks in
/// scale-up domain a, a copy for every expert of a token leaves the domain (e-n_a)/e of the time;
/// or one copy goes to each domain b that a token visits, 1 - (1 - n_b/e)^k of them if the router
/// has no preference (DeepSeek-V3, 2024, section 3.2.2), whence it is copied to the ranks inside.
/// A router that chooses m of G groups first (its section 2.1.2) visits a domain of one group
/// m/G (1 - (1 - 1/m)^k) of the time, one of several by how many of those are among the m.
/// What goes from a to b is spread over the ranks of either; those of the smallest domain are the
/// busiest. For n equal domains that is T k (n-1)/n, or T (n-1) (1 - (1-1/n)^k).
[[nodiscard]] ExpertTraffic expert_traffic(const Layer& layer, const Strategy& strategy,
                                           const GroupPlace& place, const RankShape& shape);

/// The part of what the ranks of an expert group route that goes from a domain of `from` ranks to
/// one of `to` ranks, in all: in units of what one rank routes.
[[nodiscard]] double crossing_part(const Strategy& strategy, const GroupPlace& place,
                                   const ExpertRouting& routing, int from, int to);

/// Who exchanges.
struct ExpertRanks {
  const Strategy& strategy;
  const Profile& profile;
  const NodeType& node;
  const ExchangePlaces& places;
  double wire_efficiency = 1.0;  ///< of what NICs carry
};

/// What one pass through a layer does about its experts on an idle fabric.
struct ExpertExchange {
  Seconds seen;      ///< to the experts and back
  Seconds slices;    ///< between ranks that split an expert
  Bytes routed;      ///< that a rank hands its group, there and back, if all had as much
  Seconds transfer;  ///< of that, both ways, without overhead
  double share_seen = 1.0;
  BytesPerSecond wire;  ///< at which NICs could carry `routed`
  Bytes slice_bytes;    ///< around the ring of the ranks that split an expert
};

/// To the experts and back, each
///   overhead + max(exchanged / (scale-up rate * efficiency), across / (NIC rate * efficiency)),
/// as both fabrics carry their parts at the same time (NCCL's grouped sends and receives; DeepEP's
/// kernels forward inside a node what arrives at it), of which a share hides; with `compute`, what
/// can run beside it in this pass, no less than the bytes take on the wire, of which NICs reach
/// the wire efficiency. Between ranks that split an expert there is an all-gather before and a
/// reduce-scatter behind it.
[[nodiscard]] ExpertExchange expert_exchange(const Layer& layer, const RankShape& shape,
                                             const ExpertRanks& ranks, Seconds compute);

}  // namespace headway
