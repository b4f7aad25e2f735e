#include "sim/network/analysis/max_min_rates.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace headway {
namespace {

/// Progressive filling: the link with the least for each of its flows is full first; its flows get
/// that, and what they take elsewhere is gone.
class Filling {
 public:
  Filling(const Topology& topology, std::span<const std::vector<LinkShare>> routes,
          double efficiency)
      : rates_(routes.size()), is_settled_(routes.size(), false) {
    uses_.resize(routes.size());
    for (std::size_t flow = 0; flow < routes.size(); ++flow) {
      for (const LinkShare& hop : routes[flow]) add_use(topology, flow, hop, efficiency);
    }
  }

  std::vector<BytesPerSecond> rates() {
    for (std::size_t link = 0; link < links_.size(); ++link) offer(link);
    while (!queue_.empty()) {
      const Offer least = queue_.top();
      queue_.pop();
      const LinkState& link = links_[least.link];
      if (link.version != least.version || link.unsettled == 0) continue;
      for (const auto& [flow, weight] : std::vector(link.flows)) settle(flow, least.rate);
    }
    return std::move(rates_);
  }

 private:
  struct LinkState {
    double left = 0.0;
    double weight = 0.0;  ///< of flows that have no rate yet
    int unsettled = 0;
    int version = 0;
    std::vector<std::pair<std::size_t, double>> flows;  ///< and the weight of each
  };
  struct Offer {
    double rate = 0.0;
    std::size_t link = 0;
    int version = 0;
    friend bool operator>(const Offer& a, const Offer& b) {
      return a.rate != b.rate ? a.rate > b.rate : a.link > b.link;
    }
  };

  void add_use(const Topology& topology, std::size_t flow, const LinkShare& hop,
               double efficiency) {
    const auto [place, is_new] = numbers_.try_emplace(hop.link, links_.size());
    if (is_new) {
      const Link& link = topology.link(hop.link);
      const bool is_inner = topology.is_switch(link.from) && topology.is_switch(link.to);
      links_.push_back({.left = link.capacity.count() * (is_inner ? efficiency : 1.0)});
    }
    LinkState& link = links_[place->second];
    link.weight += hop.share;
    ++link.unsettled;
    link.flows.emplace_back(flow, hop.share);
    uses_[flow].emplace_back(place->second, hop.share);
  }

  void offer(std::size_t number) {
    LinkState& link = links_[number];
    // Weights that were added and taken away again leave a rest behind.
    if (link.unsettled == 0) return;
    queue_.push({.rate = std::max(link.left, 0.0) / link.weight,
                 .link = number,
                 .version = ++link.version});
  }

  void settle(std::size_t flow, double rate) {
    if (is_settled_[flow]) return;
    is_settled_[flow] = true;
    rates_[flow] = BytesPerSecond(rate);
    for (const auto& [number, weight] : uses_[flow]) {
      links_[number].left -= rate * weight;
      links_[number].weight -= weight;
      --links_[number].unsettled;
    }
    for (const auto& [number, weight] : uses_[flow]) offer(number);
  }

  std::vector<BytesPerSecond> rates_;
  std::vector<bool> is_settled_;
  std::vector<std::vector<std::pair<std::size_t, double>>> uses_;  ///< of each flow
  std::vector<LinkState> links_;
  std::unordered_map<LinkId, std::size_t> numbers_;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> queue_;
};

}  // namespace

std::vector<BytesPerSecond> max_min_rates(const Topology& topology,
                                          std::span<const std::vector<LinkShare>> routes,
                                          double efficiency) {
  return Filling(topology, routes, efficiency).rates();
}

}  // namespace headway
