#include "sim/network/routing/shortest_routing.h"

#include <algorithm>

#include "sim/network/routing/routing_kind.h"
#include "sim/network/routing/shortest_paths.h"

namespace headway {

namespace {

/// What a destination's number leaves over at each height of a path, from which choices are made:
/// a climb over n choices divides by n, a descent takes the last division back.
class Remainders {
 public:
  explicit Remainders(std::size_t number) : left_{number} {}
  [[nodiscard]] std::size_t top() const { return left_.back(); }
  void climb(std::size_t choices) { left_.push_back(left_.back() / choices); }
  void descend() {
    if (left_.size() > 1) left_.pop_back();
  }

 private:
  std::vector<std::size_t> left_;
};

/// One of so many choices, the sum of the number's digits to that base: not only numbers in a row
/// take all of them equally often, but also those that any power of it is between.
std::size_t evenly(std::size_t number, std::size_t choices) {
  if (choices == 1) return 0;
  std::size_t digits = 0;
  for (; number > 0; number /= choices) digits += number % choices;
  return digits % choices;
}

/// One shortest path for each pair. Where several begin at a vertex, the destination picks one the
/// way D-mod-k does. Endpoints are numbered attachment by attachment, so that neighbours on a
/// switch are consecutive. The remainder at the lower end of a hop picks the next vertex and the
/// one at its upper end picks among parallel cables; hops within a tier count as climbs. On a
/// regular tree this spreads as D-mod-k does; on any other graph it is just a fixed spread. Cables
/// within a tier, as of routers of two sites, are spread over by the destination's own number: what
/// is left of it where a path climbed may be even for all that a collective sends there at once.
class ShortestRouting final : public Routing {
 public:
  explicit ShortestRouting(const Topology& topology) : topology_(topology), paths_(topology) {
    std::vector<VertexId> endpoints;
    for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
      if (!topology.is_switch(vertex)) endpoints.push_back(vertex);
    }
    std::sort(endpoints.begin(), endpoints.end(), [&](VertexId a, VertexId b) {
      return std::pair(paths_.attachment(a), a) < std::pair(paths_.attachment(b), b);
    });
    number_.resize(static_cast<std::size_t>(topology.vertex_count()), 0);
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      number_[static_cast<std::size_t>(endpoints[i])] = i;
    }
  }

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    const std::size_t before = route.size();
    std::vector<LinkId> choices;
    Remainders remainders(number_[static_cast<std::size_t>(destination)]);
    for (VertexId at = source; at != destination;) {
      paths_.first_links(at, destination, choices);
      if (choices.empty()) {
        route.resize(before);
        throw UnreachableError(topology_, source, destination);
      }
      const LinkId link =
          choice(at, choices, remainders, number_[static_cast<std::size_t>(destination)]);
      route.push_back({.link = link});
      at = leads_to(link);
    }
  }

  [[nodiscard]] bool is_by_rule() const override { return true; }

 private:
  [[nodiscard]] VertexId leads_to(LinkId link) const { return topology_.link(link).to; }

  /// `choices` are ordered by the vertex they lead to.
  [[nodiscard]] LinkId choice(VertexId at, const std::vector<LinkId>& choices,
                              Remainders& remainders, std::size_t destination) const {
    std::size_t neighbours = 1;
    for (std::size_t i = 1; i < choices.size(); ++i) {
      if (leads_to(choices[i]) != leads_to(choices[i - 1])) ++neighbours;
    }
    std::size_t lower = remainders.top();
    std::size_t upper = lower;
    if (topology_.tier(leads_to(choices.front())) < topology_.tier(at)) {
      remainders.descend();
      lower = remainders.top();
    } else {
      remainders.climb(neighbours);
      upper = remainders.top();
    }

    auto first = choices.begin();
    auto last = end_of_neighbour(first, choices.end());
    for (std::size_t skip = lower % neighbours; skip > 0; --skip) {
      first = last;
      last = end_of_neighbour(first, choices.end());
    }
    const auto cables = static_cast<std::size_t>(last - first);
    const bool stays = topology_.tier(leads_to(choices.front())) == topology_.tier(at);
    return first[static_cast<std::ptrdiff_t>(stays ? evenly(destination, cables) : upper % cables)];
  }

  using Choice = std::vector<LinkId>::const_iterator;

  /// The first choice from `begin` on that leads elsewhere.
  [[nodiscard]] Choice end_of_neighbour(Choice begin, Choice end) const {
    return std::find_if(begin, end,
                        [&](LinkId link) { return leads_to(link) != leads_to(*begin); });
  }

  const Topology& topology_;
  ShortestPaths paths_;
  std::vector<std::size_t> number_;  ///< of each endpoint
};

}  // namespace

std::unique_ptr<const Routing> shortest_routing(const Topology& topology) {
  return std::make_unique<ShortestRouting>(topology);
}

RoutingKind shortest_routing() {
  return {"shortest", [](ObjectReader& /*reader*/, const RoutingRequest& request) {
            return shortest_routing(request.topology);
          }};
}

}  // namespace headway
