#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace headway {

using VertexId = std::int32_t;  ///< an endpoint or a switch
using LinkId = std::int32_t;    ///< one direction of a cable; the other is `reverse(link)`

/// One direction of a cable.
struct Link {
  VertexId from = -1;
  VertexId to = -1;
  std::int16_t from_port = 0;
  std::int16_t to_port = 0;
  BytesPerSecond capacity;
  Seconds latency;  ///< of the cable and of what stands at its receiving end (a switch)
};

/// A network as a graph: endpoints (NIC ports) and switches joined by cables. Both directions of a
/// cable are links of their own. Holds no routes; see routing.h. Names are unique.
class Topology {
 public:
  VertexId add_endpoint(std::string name);
  VertexId add_switch(std::string name, int tier);

  /// Adds both directions and returns the one from `a` to `b`. Ports count from 1; 0 takes the next
  /// free number. Either direction's latency is `latency` plus the forwarding latency given for the
  /// vertex it arrives at.
  LinkId add_cable(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency, int port_a = 0,
                   int port_b = 0);

  [[nodiscard]] static constexpr LinkId reverse(LinkId link) { return link ^ 1; }

  [[nodiscard]] int vertex_count() const { return static_cast<int>(vertices_.size()); }
  [[nodiscard]] int link_count() const { return static_cast<int>(links_.size()); }
  [[nodiscard]] int endpoint_count() const { return endpoints_; }
  [[nodiscard]] int switch_count() const { return vertex_count() - endpoints_; }

  [[nodiscard]] const Link& link(LinkId id) const { return links_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Link& link(LinkId id) { return links_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::string_view name(VertexId vertex) const;
  [[nodiscard]] bool is_switch(VertexId vertex) const;
  [[nodiscard]] int tier(VertexId vertex) const;  ///< of a switch, 0 next to the endpoints; -1 for an endpoint
  [[nodiscard]] VertexId find(std::string_view name) const;  ///< -1 if there is none
  /// Links that leave a vertex, in the order they were added.
  [[nodiscard]] std::span<const LinkId> links_from(VertexId vertex) const;

 private:
  struct Vertex {
    std::string name;
    int tier;
    std::vector<LinkId> out;
  };
  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  int endpoints_ = 0;
};

}  // namespace headway
