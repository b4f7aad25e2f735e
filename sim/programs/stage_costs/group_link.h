#pragma once

#include "sim/costs/collective_cost.h"
#include "sim/costs/profile.h"
#include "sim/network/cluster.h"

namespace headway {

/// How a group of consecutive accelerators reaches each other: over the scale-up fabric, or over
/// its NICs where it does not fit a domain.
struct GroupLink {
  const std::vector<MeasuredCollective>* measured = nullptr;  ///< if any, on links like these
  Seconds overhead;                                           ///< of each collective or message
  LinkCost step;

  /// As it was measured where it was, else the closed form.
  [[nodiscard]] Seconds time(CollectiveKind kind, Bytes message, int ranks) const;
};

/// `nics` of them work for each rank that crosses from one domain to the next, at the rate that
/// software reaches or that the fabric carries, whichever is less (`fabric_share.h`).
[[nodiscard]] GroupLink group_link(const Cluster& cluster, const Profile& profile, int ranks,
                                   double nics, double fabric_share = 1.0);

/// NICs of one accelerator; fewer than 1 where several share one.
[[nodiscard]] double nics_of_rank(const Cluster& cluster);
/// NICs of a scale-up domain, at least 1: what a ring over each of them uses.
[[nodiscard]] double nics_of_domain(const Cluster& cluster);

}  // namespace headway
