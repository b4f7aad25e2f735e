#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/stage_costs/exchange_kind.h"

namespace headway {

struct Strategy;

/// How a group of ranks stands: all that the price of its exchanges has to know of its place.
struct GroupPlace {
  /// How many members stand in each scale-up domain that the group reaches; most first.
  std::vector<int> members = {1};

  [[nodiscard]] int ranks() const;
  /// Whether it leaves a scale-up domain.
  [[nodiscard]] bool crosses() const { return members.size() > 1; }
  [[nodiscard]] int most() const { return members.front(); }
  [[nodiscard]] int fewest() const { return members.back(); }

  friend auto operator<=>(const GroupPlace&, const GroupPlace&) = default;
};

[[nodiscard]] GroupPlace place_of_group(const Cluster& cluster,
                                        std::span<const std::int32_t> accelerators);

/// Whether exchanges of a group as large take longer there: where fewer members of some domain have
/// to carry what all others send it, or where more domains take part.
[[nodiscard]] bool is_slower_place(const GroupPlace& a, const GroupPlace& b);

/// Where the groups of a rank stand.
using ExchangePlaces = ByExchange<GroupPlace>;

/// The fastest that the groups of a job can stand on such a cluster with this order of ranks,
/// whatever stage they are of: as few domains as can be, with equal parts of the group in each.
[[nodiscard]] ExchangePlaces best_places(const Strategy& strategy, const Cluster& cluster,
                                         std::span<const ParallelDimension> order);

}  // namespace headway
