#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/network/cluster.h"

namespace headway {

inline std::vector<LinkShare> route_of(const Cluster& cluster, VertexId source,
                                       VertexId destination) {
  std::vector<LinkShare> route;
  cluster.routing->append_route(source, destination, 0, route);
  return route;
}

/// The vertices on the way, by name: "a > b > c".
inline std::string way_of(const Cluster& cluster, VertexId source, VertexId destination) {
  std::string way(cluster.topology.name(source));
  for (const LinkShare& hop : route_of(cluster, source, destination)) {
    way += " > " + std::string(cluster.topology.name(cluster.topology.link(hop.link).to));
  }
  return way;
}

/// How many of the flows cross each link that is crossed at all.
using LinkLoads = std::map<LinkId, int>;

inline void add_flow(const Cluster& cluster, VertexId source, VertexId destination,
                     LinkLoads& loads) {
  for (const LinkShare& hop : route_of(cluster, source, destination)) ++loads[hop.link];
}

inline int most_loaded(const LinkLoads& loads) {
  int most = 0;
  for (const auto& [link, flows] : loads) most = std::max(most, flows);
  return most;
}

/// A route starts at its source, ends at its destination, is contiguous and crosses each link once.
inline void expect_path(const Cluster& cluster, VertexId source, VertexId destination) {
  const auto where = [&] {
    return "from " + std::string(cluster.topology.name(source)) + ": " +
           way_of(cluster, source, destination);
  };
  VertexId at = source;
  LinkLoads loads;
  for (const LinkShare& hop : route_of(cluster, source, destination)) {
    const Link& link = cluster.topology.link(hop.link);
    ASSERT_EQ(link.from, at) << where();
    ASSERT_EQ(hop.share, 1.0) << where();
    ASSERT_EQ(++loads[hop.link], 1) << where();
    at = link.to;
  }
  ASSERT_EQ(at, destination) << where();
}

/// A route in a tree goes up, then down, never up again, and changes the tier with each hop.
inline void expect_valley_free(const Cluster& cluster, VertexId source, VertexId destination) {
  bool goes_down = false;
  for (const LinkShare& hop : route_of(cluster, source, destination)) {
    const Link& link = cluster.topology.link(hop.link);
    const int climb = cluster.topology.tier(link.to) - cluster.topology.tier(link.from);
    ASSERT_TRUE(climb == 1 || climb == -1) << way_of(cluster, source, destination);
    ASSERT_FALSE(climb == 1 && goes_down) << way_of(cluster, source, destination);
    goes_down = climb == -1;
  }
}

}  // namespace headway
