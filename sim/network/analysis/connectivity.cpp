#include "sim/network/analysis/connectivity.h"

#include <algorithm>

#include "sim/network/union_find.h"

namespace headway {
namespace {

class Islands {
 public:
  explicit Islands(const Topology& topology)
      : topology_(topology), joined_(topology.vertex_count()) {
    for (LinkId id = 0; id < topology.link_count(); id += 2) {
      const Link& link = topology.link(id);
      const bool passes = topology.forwards(link.from) && topology.forwards(link.to);
      if (topology.is_up(id) && passes) joined_.join(link.from, link.to);
    }
  }

  /// Groups of switches that an endpoint has a cable to; its own group if it forwards itself.
  [[nodiscard]] std::vector<int> around(VertexId endpoint) {
    if (topology_.forwards(endpoint)) return {joined_.group(endpoint)};
    std::vector<int> groups;
    for (const LinkId link : topology_.links_from(endpoint)) {
      groups.push_back(joined_.group(topology_.link(link).to));
    }
    return groups;
  }

  /// Two of the endpoints that are apart, if there are any.
  template <class Endpoints>
  [[nodiscard]] std::optional<EndpointPair> apart(const Endpoints& endpoints) {
    std::vector<int> reached;
    VertexId first = -1;
    for (const VertexId endpoint : endpoints) {
      const std::vector<int> groups = around(endpoint);
      if (first == -1) {
        first = endpoint;
        reached = groups;
      }
      const bool is_near = endpoint == first || std::ranges::any_of(groups, [&](int group) {
                             return std::ranges::find(reached, group) != reached.end();
                           });
      if (!is_near) return EndpointPair{.a = first, .b = endpoint};
    }
    return std::nullopt;
  }

 private:
  const Topology& topology_;
  UnionFind joined_;
};

}  // namespace

Connectivity connectivity(const Cluster& cluster) {
  Islands islands(cluster.topology);
  std::vector<VertexId> all = cluster.endpoints;
  all.insert(all.end(), cluster.site.host_ports.begin(), cluster.site.host_ports.end());
  Connectivity result{.unconnected = islands.apart(all)};
  const auto nics = static_cast<std::size_t>(cluster.node_type.nics);
  if (!result.unconnected || nics == 1) return result;
  for (std::size_t nic = 0; nic < nics; ++nic) {
    std::vector<VertexId> rail;
    for (std::size_t i = nic; i < cluster.endpoints.size(); i += nics) {
      rail.push_back(cluster.endpoints[i]);
    }
    if (const auto pair = islands.apart(rail)) return {.unconnected = pair};
  }
  return {.rails_only = true};
}

}  // namespace headway
