#include "sim/network/analysis/fabric_analysis.h"

#include <algorithm>
#include <cmath>

#include "sim/base/index.h"
#include "sim/base/quantity_text.h"
#include "sim/network/analysis/max_flow.h"
#include "sim/network/analysis/max_min_rates.h"

namespace headway {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

class Analyst {
 public:
  explicit Analyst(const Cluster& cluster)
      : cluster_(cluster), topology_(cluster.topology), ports_(cluster.site.host_ports) {
    std::ranges::stable_sort(ports_, {}, [&](VertexId port) { return place(port); });
    is_host_port_.resize(index(topology_.vertex_count()));
    for (const VertexId port : ports_) is_host_port_[index(port)] = true;
  }

  FabricAnalysis analysis() {
    FabricAnalysis result{.hosts = cluster_.site.hosts,
                          .host_ports = static_cast<int>(ports_.size()),
                          .switches = topology_.switch_count()};
    result.links = links();
    result.diameter_links = diameter();
    result.bisection_links = bisection([](const Link&) { return std::int64_t{1}; });
    result.bisection_bandwidth = BytesPerSecond(static_cast<double>(
        bisection([](const Link& link) { return std::llround(link.capacity.count()); })));
    result.shifts = shifts();
    if (pairs() * links_of_a_route() <= kMostRoutedLinks) result.all_pairs = all_pairs();
    return result;
  }

 private:
  /// Where a port stands in the order: its switch (itself without one), and that switch's port.
  [[nodiscard]] std::pair<VertexId, int> place(VertexId port) const {
    const auto links = topology_.links_from(port);
    if (links.empty() || topology_.forwards(port)) return {port, 0};
    const Link& link = topology_.link(links.front());
    return {link.to, link.to_port};
  }

  [[nodiscard]] std::string class_of(const Link& link) const {
    int switches = 0;
    for (const VertexId end : {link.from, link.to}) {
      if (topology_.is_switch(end)) {
        ++switches;
      } else if (!is_host_port_[index(end)]) {
        return "aggregation_node";
      }
    }
    if (switches == 2) return "switch_switch";
    return switches == 1 ? "hca_switch" : "hca_hca";
  }

  [[nodiscard]] std::map<std::string, std::map<std::string, int>> links() const {
    std::map<std::string, std::map<std::string, int>> counts;
    for (LinkId id = 0; id < topology_.link_count(); id += 2) {
      if (!topology_.is_up(id)) continue;
      const Link& link = topology_.link(id);
      const auto& rates = cluster_.site.cable_rates;
      const std::string rate = rates.empty() ? "" : rates[index(id / 2)];
      ++counts[class_of(link)][rate.empty() ? exact_text(link.capacity) : rate];
    }
    return counts;
  }

  /// Searches from each vertex that ports hang on (or from the port, if it forwards itself).
  [[nodiscard]] std::optional<int> diameter() const {
    if (ports_.size() < 2) return std::nullopt;
    std::map<VertexId, int> ports_at;
    for (const VertexId port : ports_) ++ports_at[place(port).first];
    int longest = 0;
    std::vector<int> distance;
    for (const auto& [start, ports] : ports_at) {
      search(start, distance);
      for (const auto& [end, others] : ports_at) {
        if (end == start && ports < 2) continue;
        if (distance[index(end)] < 0) continue;
        const int host_links = own_links(start) + own_links(end);
        longest = std::max(longest, distance[index(end)] + host_links);
      }
    }
    return longest;
  }

  /// Links between a port and the vertex it is at: none if the vertex is the port.
  [[nodiscard]] int own_links(VertexId vertex) const { return topology_.is_switch(vertex) ? 1 : 0; }

  void search(VertexId start, std::vector<int>& distance) const {
    distance.assign(index(topology_.vertex_count()), -1);
    distance[index(start)] = 0;
    std::vector<VertexId> queue = {start};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const LinkId link : topology_.links_from(queue[i])) {
        const VertexId to = topology_.link(link).to;
        if (distance[index(to)] != -1 || !topology_.forwards(to)) continue;
        distance[index(to)] = distance[index(queue[i])] + 1;
        queue.push_back(to);
      }
    }
  }

  /// Ports that do not forward are edges of the source or the sink themselves.
  template <class Capacity>
  [[nodiscard]] std::int64_t bisection(Capacity capacity) const {
    const int source = topology_.vertex_count();
    const int sink = source + 1;
    MaxFlow network(sink + 1);
    for (LinkId id = 0; id < topology_.link_count(); id += 2) {
      if (!topology_.is_up(id)) continue;
      const Link& link = topology_.link(id);
      if (!topology_.forwards(link.from) || !topology_.forwards(link.to)) continue;
      network.add_edge(link.from, link.to, capacity(link), capacity(link));
    }
    const std::size_t half = ports_.size() / 2;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const VertexId port = ports_[i];
      const auto attach = [&](VertexId vertex, std::int64_t amount) {
        if (i < half) {
          network.add_edge(source, vertex, amount, 0);
        } else {
          network.add_edge(vertex, sink, amount, 0);
        }
      };
      if (topology_.forwards(port)) {
        attach(port, kUnlimited);
        continue;
      }
      for (const LinkId id : topology_.links_from(port)) {
        const Link& link = topology_.link(id);
        if (topology_.forwards(link.to)) attach(link.to, capacity(link));
      }
    }
    return half == 0 ? 0 : network.flow(source, sink);
  }

  /// The route, or nothing if there is none.
  [[nodiscard]] bool find_route(VertexId from, VertexId to) {
    route_.clear();
    try {
      cluster_.routing->append_route(from, to, 0, route_);
    } catch (const UnreachableError&) {
      return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<FabricAnalysis::Shift> shifts() {
    const int ports = static_cast<int>(ports_.size());
    std::vector<FabricAnalysis::Shift> shifts;
    for (const int distance : {1, ports / 4, ports / 2}) {
      const int last = shifts.empty() ? 0 : shifts.back().distance;
      if (distance <= last || distance >= ports) continue;
      shifts.push_back(shift_by(distance));
    }
    return shifts;
  }

  [[nodiscard]] double pairs() const {
    const auto ports = static_cast<double>(ports_.size());
    return ports * (ports - 1.0);
  }

  /// Links of a route between ports far apart; routings that spread packets have many.
  [[nodiscard]] double links_of_a_route() {
    if (ports_.size() < 2 || !find_route(ports_.front(), ports_[ports_.size() / 2])) return 1.0;
    return static_cast<double>(route_.size());
  }

  [[nodiscard]] FabricAnalysis::Shift shift_by(int distance) {
    FabricAnalysis::Shift shift{.distance = distance};
    const int ports = static_cast<int>(ports_.size());
    std::vector<std::vector<LinkShare>> routes;
    std::vector<double> loads(index(topology_.link_count()), 0.0);
    const bool are_kept = ports * links_of_a_route() <= kMostShiftedLinks;
    for (int i = 0; i < ports; ++i) {
      if (!find_route(ports_[index(i)], ports_[index((i + distance) % ports)])) continue;
      ++shift.flows;
      for (const LinkShare& hop : route_) loads[index(hop.link)] += hop.share;
      if (are_kept) routes.push_back(route_);
    }
    if (shift.flows == 0) return shift;
    const auto most = std::ranges::max_element(loads);
    // Parts of flows add up to whole ones only nearly.
    shift.most_flows_on_a_link = std::round(*most * 1e9) / 1e9;
    shift.most_loaded = static_cast<LinkId>(most - loads.begin());
    if (are_kept) shift.rates = rates_of(routes);
    return shift;
  }

  [[nodiscard]] FabricAnalysis::Rates rates_of(
      const std::vector<std::vector<LinkShare>>& routes) const {
    const std::vector<BytesPerSecond> rates =
        max_min_rates(topology_, routes, cluster_.routing->efficiency());
    const auto [least, highest] = std::ranges::minmax_element(rates);
    FabricAnalysis::Rates result{.least = *least, .highest = *highest};
    for (const BytesPerSecond rate : rates) result.mean += rate;
    result.mean = result.mean / static_cast<double>(rates.size());
    return result;
  }

  [[nodiscard]] FabricAnalysis::AllPairs all_pairs() {
    FabricAnalysis::AllPairs pairs;
    std::vector<double> loads(index(topology_.link_count()), 0.0);
    std::vector<std::int64_t> lengths;
    for (const VertexId to : ports_) {
      for (const VertexId from : ports_) {
        if (from == to) continue;
        if (!find_route(from, to)) {
          ++pairs.unreachable_pairs;
          continue;
        }
        double length = 0.0;
        for (const LinkShare& hop : route_) {
          loads[index(hop.link)] += hop.share;
          length += hop.share;
        }
        const auto links = static_cast<std::size_t>(std::llround(length));
        if (links >= lengths.size()) lengths.resize(links + 1, 0);
        ++lengths[links];
      }
    }
    for (std::size_t links = 0; links < lengths.size(); ++links) {
      if (lengths[links] > 0) pairs.links_histogram[static_cast<int>(links)] = lengths[links];
    }
    pairs.most_loaded = most_loaded(loads);
    return pairs;
  }

  /// Among links between vertices that forward; the first one of several.
  [[nodiscard]] std::optional<FabricAnalysis::Load> most_loaded(
      const std::vector<double>& loads) const {
    std::optional<FabricAnalysis::Load> most;
    for (LinkId id = 0; id < topology_.link_count(); ++id) {
      const Link& link = topology_.link(id);
      const std::int64_t routes = std::llround(loads[index(id)]);
      const bool is_inner = topology_.forwards(link.from) && topology_.forwards(link.to);
      if (!is_inner || routes <= (most ? most->routes : 0)) continue;
      most = FabricAnalysis::Load{.link = id, .routes = routes};
    }
    return most;
  }

  const Cluster& cluster_;
  const Topology& topology_;
  std::vector<VertexId> ports_;
  std::vector<bool> is_host_port_;
  std::vector<LinkShare> route_;
};

}  // namespace

FabricAnalysis analysed(const Cluster& cluster) { return Analyst(cluster).analysis(); }

}  // namespace headway
