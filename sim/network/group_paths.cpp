#include "sim/network/group_paths.h"

#include <algorithm>

namespace headway {

void GroupPaths::first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const {
  links.clear();
  if (!topology_.is_switch(at)) {
    const auto own = topology_.links_from(at);
    links.assign(own.begin(), own.end());
    return;
  }
  const int target_group = group(destination);
  if (group(at) != target_group) {
    links_to_group(at, target_group, links);
    if (!links.empty()) return;
    return links_within(
        at,
        [&](VertexId vertex) {
          const auto own = topology_.links_from(vertex);
          return std::ranges::any_of(own, [&](LinkId link) {
            const VertexId to = topology_.link(link).to;
            return topology_.is_switch(to) && group(to) == target_group;
          });
        },
        links);
  }
  // The last switch is the destination itself or what it is cabled to.
  const auto is_last = [&](VertexId vertex) {
    if (vertex == destination) return true;
    const auto own = topology_.links_from(destination);
    return !topology_.is_switch(destination) &&
           std::ranges::any_of(own, [&](LinkId link) { return topology_.link(link).to == vertex; });
  };
  if (!is_last(at)) return links_within(at, is_last, links);
  for (const LinkId link : topology_.links_from(at)) {
    if (topology_.link(link).to == destination) links.push_back(link);
  }
}

void GroupPaths::links_to_group(VertexId at, int to, std::vector<LinkId>& links) const {
  for (const LinkId link : topology_.links_from(at)) {
    const VertexId next = topology_.link(link).to;
    if (topology_.is_switch(next) && group(next) == to) links.push_back(link);
  }
}

template <class IsTarget>
void GroupPaths::links_within(VertexId at, IsTarget is_target, std::vector<LinkId>& links) const {
  // Outwards from `at`, distance by distance; each vertex keeps the first links that lead to it.
  struct Reached {
    VertexId vertex;
    std::vector<LinkId> first_links;
  };
  std::vector<VertexId> known{at};
  std::vector<Reached> frontier{{at, {}}};
  while (!frontier.empty() && links.empty()) {
    std::vector<Reached> next;
    for (const Reached& from : frontier) {
      for (const LinkId link : topology_.links_from(from.vertex)) {
        const VertexId to = topology_.link(link).to;
        if (!topology_.is_switch(to) || group(to) != group(at)) continue;
        if (std::ranges::find(known, to) != known.end()) continue;
        auto place = std::ranges::find(next, to, &Reached::vertex);
        if (place == next.end()) place = next.insert(next.end(), {to, {}});
        if (from.vertex == at) {
          place->first_links.push_back(link);
        } else {
          place->first_links.insert(place->first_links.end(), from.first_links.begin(),
                                    from.first_links.end());
        }
      }
    }
    for (const Reached& reached : next) {
      known.push_back(reached.vertex);
      if (!is_target(reached.vertex)) continue;
      links.insert(links.end(), reached.first_links.begin(), reached.first_links.end());
    }
    frontier = std::move(next);
  }
  std::ranges::sort(links);
  const auto repeated = std::ranges::unique(links);
  links.erase(repeated.begin(), repeated.end());
}

}  // namespace headway
