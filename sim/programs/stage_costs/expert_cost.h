#pragma once

#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/network/cluster.h"

namespace headway {

/// What the ranks of an expert group send each other in one direction, for each rank and
/// micro-batch.
struct ExpertTraffic {
  Bytes exchanged;       ///< to the ranks of other experts, in all
  Bytes across_domains;  ///< of it what the rank's NICs carry
};

/// Every rank sends each token of its part of the sequence to the ranks of its experts: T k rows of
/// 16 bits, of which (e-1)/e leave an expert-parallel group of e. Where the group reaches over n
/// scale-up domains, a token goes across the fabric k (n-1)/n times, a copy for every expert; or
/// once to each domain it goes to, n (1 - (1-1/n)^k) of them on average if the router has no
/// preference (DeepSeek-V3, 2024, section 3.2.2), whence it is copied to the ranks inside. Ranks
/// that follow each other form a group, tensor-parallel ones first, then context- and data-parallel
/// ones.
[[nodiscard]] ExpertTraffic expert_traffic(const Layer& layer, const Strategy& strategy,
                                           const Cluster& cluster, const RankShape& shape);

/// What one pass through a layer sees of its exchanges: to the experts and back, each
///   overhead + max(exchanged / (scale-up rate * efficiency), across / (NIC rate * efficiency)),
/// as both fabrics carry their parts at the same time (NCCL's grouped sends and receives; DeepEP's
/// kernels forward inside a node what arrives at it), of which a share hides; with `compute`, what
/// can run beside it in this pass, no less than the bytes take on the wire. Between ranks that
/// split an expert there is an all-gather before and a reduce-scatter behind it. The NICs have
/// `fabric_share` of their rate where the efficiency is not less (`fabric_share.h`).
[[nodiscard]] Seconds seen_expert_exchange(const Layer& layer, const Strategy& strategy,
                                           const Profile& profile, const Cluster& cluster,
                                           const RankShape& shape, Seconds compute,
                                           double fabric_share = 1.0);

}  // namespace headway
