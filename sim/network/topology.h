#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/network/name_pool.h"

namespace headway {

using VertexId = std::int32_t;  ///< an endpoint or a switch
using LinkId = std::int32_t;    ///< one direction of a cable; the other is `reverse(link)`

/// One direction of a cable.
struct Link {
  VertexId from = -1;
  VertexId to = -1;
  std::int32_t from_port = 0;
  std::int32_t to_port = 0;
  BytesPerSecond capacity;
};

/// A network as a graph: endpoints (NIC ports) and switches joined by cables. Both directions of a
/// cable are links of their own: cable number i, counted in the order they were added, is the links
/// 2i and 2i + 1. Holds no routes; see routing.h. Names are unique.
class Topology {
 public:
  /// Makes room; only saves time.
  void reserve(int vertices, int cables);

  VertexId add_endpoint(std::string_view name);
  /// `forwarding_latency` is what a message waits in the switch, from one port to another.
  VertexId add_switch(std::string_view name, int tier, Seconds forwarding_latency = Seconds(0.0));

  /// Adds both directions and returns the one from `a` to `b`. Ports count from 1; 0 takes the one
  /// after the highest in use. Either direction's latency is `latency` plus the forwarding latency
  /// of the vertex it arrives at (none for an endpoint).
  LinkId add_cable(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency, int port_a = 0,
                   int port_b = 0);

  /// Takes both directions of a cable out of service: they keep their numbers but leave no vertex.
  void take_down(LinkId link);

  [[nodiscard]] static constexpr LinkId reverse(LinkId link) { return link ^ 1; }

  [[nodiscard]] int vertex_count() const { return static_cast<int>(vertices_.size()); }
  [[nodiscard]] int link_count() const { return static_cast<int>(links_.size()); }
  [[nodiscard]] int cable_count() const { return link_count() / 2; }  ///< those down too
  [[nodiscard]] int cables_down() const { return cables_down_; }
  [[nodiscard]] bool is_up(LinkId id) const {
    return is_down_.empty() || !is_down_[static_cast<std::size_t>(id) / 2];
  }
  [[nodiscard]] int endpoint_count() const { return endpoints_; }
  [[nodiscard]] int switch_count() const { return vertex_count() - endpoints_; }

  [[nodiscard]] const Link& link(LinkId id) const { return links_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Link& link(LinkId id) { return links_[static_cast<std::size_t>(id)]; }
  /// Latency of the cable and of what stands at its receiving end (a switch).
  [[nodiscard]] Seconds latency(LinkId id) const {
    return latencies_[static_cast<std::size_t>(id)];
  }
  void set_latency(LinkId id, Seconds latency) {
    latencies_[static_cast<std::size_t>(id)] = latency;
  }
  /// Valid until the next vertex is added.
  [[nodiscard]] std::string_view name(VertexId vertex) const { return names_.name(vertex); }
  [[nodiscard]] bool is_switch(VertexId vertex) const { return tier(vertex) >= 0; }
  /// A switch's distance from the endpoints: 0 next to them; -1 for an endpoint.
  [[nodiscard]] int tier(VertexId vertex) const { return at(vertex).tier; }
  /// Whether traffic of others passes through: switches, and endpoints of a fabric without any
  /// switch (a ring, a torus).
  [[nodiscard]] bool forwards(VertexId vertex) const {
    return is_switch(vertex) || switch_count() == 0;
  }
  [[nodiscard]] VertexId find(std::string_view name) const { return names_.find(name); }  ///< or -1
  [[nodiscard]] Seconds forwarding_latency(VertexId vertex) const {
    return at(vertex).forwarding_latency;
  }
  /// Links in service that leave a vertex, in the order they were added.
  [[nodiscard]] std::span<const LinkId> links_from(VertexId vertex) const { return at(vertex).out; }

 private:
  struct Vertex {
    std::vector<LinkId> out;
    Seconds forwarding_latency;
    std::int32_t tier = -1;
    std::int32_t highest_port = 0;
  };

  [[nodiscard]] bool has(VertexId vertex) const { return vertex >= 0 && vertex < vertex_count(); }
  [[nodiscard]] const Vertex& at(VertexId vertex) const {
    return vertices_[static_cast<std::size_t>(vertex)];
  }
  /// Adds one direction.
  void add_link(const Link& link, Seconds latency);

  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<Seconds> latencies_;  ///< by link; close together, as millions of routes are added up
  std::vector<bool> is_down_;       ///< by cable; empty if none is
  NamePool names_;
  int endpoints_ = 0;
  int cables_down_ = 0;
};

/// Whether switches are joined by cables, so that there may be several ways between endpoints.
[[nodiscard]] bool has_several_ways(const Topology& topology);

}  // namespace headway
