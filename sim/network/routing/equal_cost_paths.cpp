#include "sim/network/routing/equal_cost_paths.h"

#include <map>

#include "sim/network/fabrics/clos_paths.h"
#include "sim/network/group_paths.h"
#include "sim/network/routing/shortest_paths.h"

namespace headway {

std::unique_ptr<const PathChoices> equal_cost_paths(const RoutingRequest& request) {
  const auto* clos = dynamic_cast<const ClosShape*>(request.layout);
  if (clos != nullptr && request.topology.cables_down() == 0) {
    return std::make_unique<ClosPaths>(*clos);
  }
  if (const auto* groups = dynamic_cast<const GroupLayout*>(request.layout)) {
    return std::make_unique<GroupPaths>(request.topology, *groups);
  }
  return std::make_unique<ShortestPaths>(request.topology);
}

bool append_split(const PathChoices& paths, const Topology& topology, VertexId from, VertexId to,
                  double amount, std::vector<LinkShare>& route) {
  const std::size_t before = route.size();
  std::vector<LinkId> links;
  std::map<VertexId, double> here{{from, amount}};
  while (!here.empty()) {
    std::map<VertexId, double> next;
    for (const auto& [vertex, share] : here) {
      if (vertex == to) continue;  // arrived, maybe sooner than other parts
      paths.first_links(vertex, to, links);
      if (links.empty()) {
        route.resize(before);
        return false;
      }
      const double part = share / static_cast<double>(links.size());
      for (const LinkId link : links) {
        route.push_back({.link = link, .share = part});
        next[topology.link(link).to] += part;
      }
    }
    here = std::move(next);
  }
  return true;
}

}  // namespace headway
