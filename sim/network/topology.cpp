#include "sim/network/topology.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {

void Topology::reserve(int vertices, int cables) {
  vertices_.reserve(static_cast<std::size_t>(vertices));
  links_.reserve(2 * static_cast<std::size_t>(cables));
  latencies_.reserve(2 * static_cast<std::size_t>(cables));
  names_.reserve(vertices);
}

VertexId Topology::add_endpoint(std::string_view name) {
  vertices_.emplace_back();
  ++endpoints_;
  return names_.add(name);
}

VertexId Topology::add_switch(std::string_view name, int tier, Seconds forwarding_latency) {
  HEADWAY_CHECK(tier >= 0, "a switch stands on a tier");
  Vertex& vertex = vertices_.emplace_back();
  vertex.tier = tier;
  vertex.forwarding_latency = forwarding_latency;
  return names_.add(name);
}

LinkId Topology::add_cable(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency,
                           int port_a, int port_b) {
  HEADWAY_CHECK(has(a), "a cable begins at a vertex");
  HEADWAY_CHECK(has(b), "a cable ends at a vertex");
  HEADWAY_CHECK(a != b, "a cable joins two vertices");
  HEADWAY_CHECK(capacity > BytesPerSecond(0.0), "a cable carries something");
  if (port_a == 0) port_a = at(a).highest_port + 1;
  if (port_b == 0) port_b = at(b).highest_port + 1;

  const LinkId forward = link_count();
  add_link({.from = a, .to = b, .from_port = port_a, .to_port = port_b, .capacity = capacity},
           latency + at(b).forwarding_latency);
  add_link({.from = b, .to = a, .from_port = port_b, .to_port = port_a, .capacity = capacity},
           latency + at(a).forwarding_latency);
  return forward;
}

void Topology::take_down(LinkId link) {
  if (!is_up(link)) return;
  is_down_.resize(static_cast<std::size_t>(cable_count()));
  is_down_[static_cast<std::size_t>(link) / 2] = true;
  ++cables_down_;
  for (const LinkId direction : {link, reverse(link)}) {
    std::erase(vertices_[static_cast<std::size_t>(this->link(direction).from)].out, direction);
  }
}

void Topology::add_link(const Link& link, Seconds latency) {
  Vertex& from = vertices_[static_cast<std::size_t>(link.from)];
  from.out.push_back(link_count());
  from.highest_port = std::max(from.highest_port, link.from_port);
  links_.push_back(link);
  latencies_.push_back(latency);
}

bool has_several_ways(const Topology& topology) {
  for (LinkId link = 0; link < topology.link_count(); link += 2) {
    const Link& ends = topology.link(link);
    if (topology.is_switch(ends.from) && topology.is_switch(ends.to)) return true;
  }
  return false;
}

}  // namespace headway
