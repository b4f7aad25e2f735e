#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/network/cluster.h"

namespace headway {

/// What the cables and the routes of a fabric amount to, between the NIC ports of all its hosts.
///
/// Where an order of ports is needed (halves, shifts) they stand by the switch that they hang on,
/// in the order of the switches, then by the port of that switch.
struct FabricAnalysis {
  /// A direction of a cable between two switches, and how many routes cross it.
  struct Load {
    LinkId link = -1;
    std::int64_t routes = 0;
  };
  /// What flows get that share links max-min fairly.
  struct Rates {
    BytesPerSecond least;
    BytesPerSecond mean;
    BytesPerSecond highest;
  };
  /// Each port sends to the one `distance` places on.
  struct Shift {
    int distance = 0;
    std::int64_t flows = 0;
    double most_flows_on_a_link = 0.0;  ///< a flow may use parts of links; those of hosts too
    std::optional<Rates> rates;         ///< nothing above kMostShiftedLinks
    std::optional<LinkId> most_loaded;  ///< the first one with the most flows
  };
  /// All ordered pairs of ports, routed.
  struct AllPairs {
    std::map<int, std::int64_t> links_histogram;  ///< links on the route: pairs
    std::int64_t unreachable_pairs = 0;           ///< the routing knows no way
    std::optional<Load> most_loaded;              ///< nothing if no route is between switches
  };

  int hosts = 0;
  int host_ports = 0;
  int switches = 0;
  /// Cables by what they join ("switch_switch", "hca_switch", "hca_hca", "aggregation_node"), then
  /// by rate, as the site calls it or else as a bandwidth.
  std::map<std::string, std::map<std::string, int>> links;
  /// Links on the longest of the shortest paths between two ports; nothing for less than two.
  std::optional<int> diameter_links;
  /// The largest flow from the first half of the ports (rounded down) to the others, if each cable
  /// carries 1 each way, and if it carries its bandwidth.
  std::int64_t bisection_links = 0;
  BytesPerSecond bisection_bandwidth;
  std::vector<Shift> shifts;          ///< by 1, by a quarter and by half of the ports
  std::optional<AllPairs> all_pairs;  ///< nothing above kMostRoutedLinks
};

/// Links on the routes of all pairs, above which they are not routed: their number grows with the
/// square of the ports (16,384 of them on single paths in a tree of three tiers are 1.6e9).
inline constexpr double kMostRoutedLinks = 2e9;
/// Links on the routes of a shift, above which they are not kept to share them out.
inline constexpr double kMostShiftedLinks = 1e7;

[[nodiscard]] FabricAnalysis analysed(const Cluster& cluster);

}  // namespace headway
