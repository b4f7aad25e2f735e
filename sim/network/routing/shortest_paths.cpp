#include "sim/network/routing/shortest_paths.h"

#include <algorithm>
#include <limits>

#include "sim/base/index.h"

namespace headway {

namespace {

constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kMostDistancesKept = 400'000'000;  ///< of two bytes each

VertexId attachment_of(const Topology& topology, VertexId vertex) {
  const auto links = topology.links_from(vertex);
  if (topology.is_switch(vertex) || links.empty()) return vertex;
  const VertexId neighbour = topology.link(links.front()).to;
  const bool is_only = std::all_of(
      links.begin(), links.end(), [&](LinkId link) { return topology.link(link).to == neighbour; });
  return is_only && topology.is_switch(neighbour) ? neighbour : vertex;
}

}  // namespace

ShortestPaths::ShortestPaths(const Topology& topology) : topology_(topology) {
  const int vertices = topology.vertex_count();
  attachment_.reserve(index(vertices));
  forwarder_.reserve(index(vertices));
  for (VertexId vertex = 0; vertex < vertices; ++vertex) {
    attachment_.push_back(attachment_of(topology, vertex));
    forwarder_.push_back(topology.forwards(vertex) ? forwarders_++ : -1);
  }
}

void ShortestPaths::first_links(VertexId at, VertexId destination,
                                std::vector<LinkId>& links) const {
  links.clear();
  const VertexId target = attachment(destination);
  if (at == target) {  // the last hop, from the switch to the endpoint: all of its cables
    for (const LinkId link : topology_.links_from(destination)) {
      links.push_back(Topology::reverse(link));
    }
    return;
  }
  const std::shared_ptr<const Distances> found = distances_to(target);
  const Distances& distances = *found;
  std::uint16_t least = kFar;
  for (const LinkId link : topology_.links_from(at)) {
    const VertexId to = topology_.link(link).to;
    const std::int32_t forwarder = forwarder_[index(to)];
    const std::uint16_t distance = to == target      ? std::uint16_t{0}
                                   : forwarder == -1 ? kFar
                                                     : distances[index(forwarder)];
    if (distance == kFar || distance > least) continue;
    if (distance < least) links.clear();
    least = distance;
    links.push_back(link);
  }
  std::sort(links.begin(), links.end(), [&](LinkId a, LinkId b) {
    return std::pair(topology_.link(a).to, a) < std::pair(topology_.link(b).to, b);
  });
}

std::shared_ptr<const ShortestPaths::Distances> ShortestPaths::distances_to(VertexId target) const {
  const std::lock_guard lock(mutex_);
  // Those of all targets would take the square of their number.
  if (distances_.size() * index(forwarders_) > kMostDistancesKept) distances_.clear();
  std::shared_ptr<const Distances>& distances = distances_[target];
  if (!distances) distances = std::make_shared<const Distances>(search(target));
  return distances;
}

ShortestPaths::Distances ShortestPaths::search(VertexId target) const {
  Distances distances(index(forwarders_), kFar);
  std::vector<VertexId> frontier{target};
  if (forwarder_[index(target)] != -1) distances[index(forwarder_[index(target)])] = 0;
  // What is farther than a number can tell is not reached.
  for (std::uint16_t distance = 1; !frontier.empty() && distance < kFar; ++distance) {
    std::vector<VertexId> next;
    for (const VertexId vertex : frontier) {
      for (const LinkId link : topology_.links_from(vertex)) {
        const std::int32_t forwarder = forwarder_[index(topology_.link(link).to)];
        if (forwarder == -1 || distances[index(forwarder)] != kFar) continue;
        distances[index(forwarder)] = distance;
        next.push_back(topology_.link(link).to);
      }
    }
    frontier = std::move(next);
  }
  return distances;
}

}  // namespace headway
