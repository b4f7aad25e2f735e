#include "sim/network/analysis/found_route.h"

#include <span>

#include "sim/network/analysis/max_min_rates.h"

namespace headway {

FoundRoute found_route(const Cluster& cluster, VertexId source, VertexId destination) {
  FoundRoute route{.source = source, .destination = destination};
  std::vector<LinkShare> hops;
  try {
    cluster.routing->append_route(source, destination, 0, hops);
  } catch (const UnreachableError&) {
    return route;
  }
  if (!hops.empty()) {
    route.rate =
        max_min_rates(cluster.topology, std::span(&hops, 1), cluster.routing->efficiency()).front();
  }
  for (const LinkShare& hop : hops) {
    route.latency += hop.share * cluster.topology.latency(hop.link);
  }
  route.hops = std::move(hops);
  return route;
}

}  // namespace headway
