#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sim/base/text_table.h"
#include "sim/network/cluster.h"

namespace headway {

/// How many of what a topology is made of.
struct TopologyCounts {
  struct Tier {
    int switches = 0;
    /// Bandwidth of the cables to hosts and lower tiers over that of the cables to higher ones;
    /// nothing for a tier with none above it. More than 1 is oversubscribed.
    std::optional<double> oversubscription;
  };
  /// Cables between two tiers (-1 is the endpoints) of the same bandwidth.
  struct Cables {
    int lower_tier = -1;
    int upper_tier = -1;
    BytesPerSecond bandwidth;  ///< one way
    int cables = 0;
  };

  int endpoints = 0;
  int switches = 0;
  int cables = 0;  ///< in service
  int cables_down = 0;
  std::vector<Tier> tiers;            ///< bottom-up
  std::vector<Cables> cable_classes;  ///< by tiers, then by bandwidth
};

/// Endpoints of no host (a switch's own aggregation node) count, but not as what a tier serves.
[[nodiscard]] TopologyCounts topology_counts(const Cluster& cluster);

/// {"endpoints", "switches", "cables", "cables_down", "tiers": [{"switches", "oversubscription"}],
/// "cable_classes":
/// [{"between", "bandwidth_bytes_per_s", "cables"}]}.
[[nodiscard]] nlohmann::json counts_json(const TopologyCounts& counts);

/// For people: the switches of each tier, and the cables of each class.
[[nodiscard]] TextTable tier_table(const TopologyCounts& counts);
[[nodiscard]] TextTable cable_table(const TopologyCounts& counts);

}  // namespace headway
