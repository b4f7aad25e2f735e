#include "sim/network/routing/equal_cost_paths.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

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

namespace {

/// How much ways to one destination carry.
class Widths {
 public:
  Widths(const PathChoices& paths, const Topology& topology, VertexId to)
      : paths_(paths), topology_(topology), to_(to) {}

  /// Of the ways that begin with a link.
  [[nodiscard]] double of(LinkId id) {
    const Link& link = topology_.link(id);
    if (link.to == to_) return kNoLimit;
    return std::min(link.capacity.count(), behind(link.to));
  }

 private:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  [[nodiscard]] double behind(VertexId vertex) {
    if (const auto found = known_.find(vertex); found != known_.end()) return found->second;
    std::vector<LinkId> links;
    paths_.first_links(vertex, to_, links);
    double sum = 0.0;
    for (const LinkId link : links) sum += of(link);
    return known_[vertex] = links.empty() ? 0.0 : sum / static_cast<double>(links.size());
  }

  const PathChoices& paths_;
  const Topology& topology_;
  VertexId to_;
  std::map<VertexId, double> known_;
};

/// Sets `shares` to what each of `links` gets of `amount`.
void share_out(double amount, const std::vector<LinkId>& links, Widths* widths,
               std::vector<double>& shares) {
  shares.assign(links.size(), amount / static_cast<double>(links.size()));
  if (widths == nullptr) return;
  std::vector<double> of_links;
  for (const LinkId link : links) of_links.push_back(widths->of(link));
  const auto [least, most] = std::ranges::minmax(of_links);
  if (least == most) return;
  const double sum = std::accumulate(of_links.begin(), of_links.end(), 0.0);
  for (std::size_t i = 0; i < links.size(); ++i) shares[i] = amount * (of_links[i] / sum);
}

/// What arrives at a switch or an endpoint.
struct Arrival {
  VertexId vertex;
  double share;
};

/// Each vertex once, in their order, in which links of most fabrics lead to them anyway.
void add_up(std::vector<Arrival>& arrivals) {
  if (!std::ranges::is_sorted(arrivals, {}, &Arrival::vertex)) {
    std::ranges::stable_sort(arrivals, {}, &Arrival::vertex);
  }
  auto last = arrivals.begin();
  for (const Arrival& arrival : arrivals) {
    if (&arrival == &*last) continue;
    if (arrival.vertex == last->vertex) {
      last->share += arrival.share;
    } else {
      *++last = arrival;
    }
  }
  if (!arrivals.empty()) arrivals.erase(last + 1, arrivals.end());
}

bool append_shares(const PathChoices& paths, const Topology& topology, VertexId from, VertexId to,
                   double amount, Widths* widths, std::vector<LinkShare>& route) {
  const std::size_t before = route.size();
  std::vector<double> shares;
  std::vector<LinkId> links;
  std::vector<Arrival> here{{from, amount}};
  std::vector<Arrival> next;
  while (!here.empty()) {
    next.clear();
    for (const auto& [vertex, share] : here) {
      if (vertex == to) continue;  // arrived, maybe sooner than other parts
      paths.first_links(vertex, to, links);
      if (links.empty()) {
        route.resize(before);
        return false;
      }
      share_out(share, links, widths, shares);
      for (std::size_t i = 0; i < links.size(); ++i) {
        if (shares[i] == 0.0) continue;
        route.push_back({.link = links[i], .share = shares[i]});
        next.push_back({.vertex = topology.link(links[i]).to, .share = shares[i]});
      }
    }
    add_up(next);
    std::swap(here, next);
  }
  return true;
}

}  // namespace

bool append_split(const PathChoices& paths, const Topology& topology, VertexId from, VertexId to,
                  double amount, std::vector<LinkShare>& route) {
  return append_shares(paths, topology, from, to, amount, nullptr, route);
}

bool append_split_by_width(const PathChoices& paths, const Topology& topology, VertexId from,
                           VertexId to, double amount, std::vector<LinkShare>& route) {
  Widths widths(paths, topology, to);
  return append_shares(paths, topology, from, to, amount, &widths, route);
}

bool is_evenly_wide(const Topology& topology) {
  std::map<std::pair<int, int>, BytesPerSecond> rates;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    const Link& link = topology.link(id);
    const std::pair tiers(topology.tier(link.from), topology.tier(link.to));
    if (!topology.is_up(id) || tiers.first < 0 || tiers.second < 0) continue;
    if (rates.try_emplace(tiers, link.capacity).first->second != link.capacity) return false;
  }
  return true;
}

}  // namespace headway
