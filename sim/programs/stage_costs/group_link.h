#pragma once

#include "sim/costs/collective_cost.h"
#include "sim/costs/profile.h"
#include "sim/network/cluster.h"
#include "sim/programs/stage_costs/group_place.h"

namespace headway {

/// How the members of a group reach each other: over the scale-up fabric, or over their NICs where
/// they do not all stand in one domain.
struct GroupLink {
  const std::vector<MeasuredCollective>* measured = nullptr;  ///< if any, on links like these
  Seconds overhead;                                           ///< of each collective or message
  LinkCost step;
  BytesPerSecond wire;  ///< what the busiest member can send at most

  /// As it was measured where it was, else the closed form; never faster than the wire.
  [[nodiscard]] Seconds time(CollectiveKind kind, Bytes message, int ranks) const;
};

/// `nics` of them work for each rank that crosses from one domain to the next, at the rate that
/// software reaches.
[[nodiscard]] GroupLink group_link(const NodeType& node, const Profile& profile,
                                   const GroupPlace& place, double nics);

/// NICs of one accelerator; fewer than 1 where several share one.
[[nodiscard]] double nics_of_rank(const NodeType& node);
/// NICs that the rings of a group use, at least 1: one ring for each of the members that every
/// domain has.
[[nodiscard]] double nics_of_rings(const NodeType& node, const GroupPlace& place);

}  // namespace headway
