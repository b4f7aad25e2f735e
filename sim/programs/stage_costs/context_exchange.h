#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/programs/stage_costs/group_link.h"
#include "sim/programs/stage_costs/pass_traffic.h"

namespace headway {

struct Strategy;

/// What context-parallel ranks wait for each other in one pass through a layer.
struct ContextExchange {
  Seconds forward;
  Seconds backward;
  double share_seen = 1.0;  ///< of the transfers, however long attention takes
  Seconds window;           ///< of a forward pass's attention, behind which the rest hides
};

/// Ring attention (Liu et al. 2023): keys and values of the other ranks arrive while the own ones
/// are worked on; what `attention` (its forward pass) does not cover is seen, and never less than a
/// floor. Backward, keys and values go round again, and their gradients.
///
/// All-to-all (Ulysses; Jacobs et al. 2023, section 3.2): queries, keys and values are swapped
/// before attention, its output after it, four all-to-alls a pass that nothing hides; of each
/// tensor a rank keeps 1/ranks.
[[nodiscard]] ContextExchange context_exchange(const Strategy& strategy, const Profile& profile,
                                               const GroupLink& link, const Layer& layer,
                                               const RankShape& shape, Seconds attention);

/// What a rank hands its group for it: round a ring what it passes on; in all-to-alls the tensors
/// that it swaps, of which every rank of the group gets an equal part.
[[nodiscard]] PassTraffic context_traffic(const Strategy& strategy, const Layer& layer,
                                          const RankShape& shape);

}  // namespace headway
