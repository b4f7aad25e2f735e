#include "sim/network/copy_topology.h"

#include "sim/base/diagnostic.h"

namespace headway {

std::vector<VertexId> append_copy(Topology& whole, const Topology& part, const std::string& prefix,
                                  std::span<const VertexId> endpoints, int first_port) {
  HEADWAY_CHECK(static_cast<int>(endpoints.size()) == part.endpoint_count(),
                "a copy has the endpoints of its original");
  std::vector<VertexId> vertices;
  vertices.reserve(static_cast<std::size_t>(part.vertex_count()));
  std::size_t next_endpoint = 0;
  for (VertexId vertex = 0; vertex < part.vertex_count(); ++vertex) {
    if (part.is_switch(vertex)) {
      vertices.push_back(whole.add_switch(prefix + std::string(part.name(vertex)),
                                          part.tier(vertex), part.forwarding_latency(vertex)));
    } else {
      vertices.push_back(endpoints[next_endpoint++]);
    }
  }
  for (LinkId id = 0; id < part.link_count(); id += 2) {
    const Link& link = part.link(id);
    const auto port = [&](VertexId vertex, int number) {
      return part.is_switch(vertex) ? number : number + first_port;
    };
    // Latencies of links hold the switch behind them, which add_cable adds again.
    whole.add_cable(vertices[static_cast<std::size_t>(link.from)],
                    vertices[static_cast<std::size_t>(link.to)], link.capacity,
                    part.latency(id) - part.forwarding_latency(link.to),
                    port(link.from, link.from_port), port(link.to, link.to_port));
  }
  return vertices;
}

}  // namespace headway
