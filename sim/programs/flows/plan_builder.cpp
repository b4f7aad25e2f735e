#include "sim/programs/flows/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"

namespace headway {
void PlanBuilder::Loads::add(std::int32_t place, double load) {
  constexpr std::size_t kMany = 1 << 20;
  if (sums_.empty() && listed_.size() < kMany) {
    listed_.push_back({place, load});
    return;
  }
  const auto put = [this](const LinkLoad& each) {
    const auto at = static_cast<std::size_t>(each.link);
    if (at >= sums_.size()) sums_.resize(at + 1, 0.0);
    sums_[at] += each.weight;
  };
  std::ranges::for_each(std::exchange(listed_, {}), put);
  put({place, load});
}

std::vector<LinkLoad> PlanBuilder::Loads::sums() const {
  std::vector<LinkLoad> sums;
  if (!sums_.empty()) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i] > 0.0) sums.push_back({static_cast<LinkId>(i), sums_[i]});
    }
    return sums;
  }
  // What is noted of places goes again.
  thread_local std::vector<double> sum_at;
  for (const auto& [place, load] : listed_) {
    const auto at = static_cast<std::size_t>(place);
    if (at >= sum_at.size()) sum_at.resize(at + 1, 0.0);
    if (sum_at[at] == 0.0) sums.push_back({place, 0.0});
    sum_at[at] += load;
  }
  std::ranges::sort(sums, {}, &LinkLoad::link);
  // A place that was loaded with nothing may be there more than once.
  const auto [repeated, end] = std::ranges::unique(sums, {}, &LinkLoad::link);
  sums.erase(repeated, end);
  for (LinkLoad& sum : sums)
    sum.weight = std::exchange(sum_at[static_cast<std::size_t>(sum.link)], 0.0);
  return sums;
}

double PlanBuilder::Loads::largest_sum() const {
  if (!sums_.empty()) return std::ranges::max(sums_);
  // What is noted of places goes again.
  thread_local std::vector<double> sums;
  double most = 0.0;
  for (const auto& [place, load] : listed_) {
    const auto at = static_cast<std::size_t>(place);
    if (at >= sums.size()) sums.resize(at + 1);
    sums[at] += load;
    most = std::max(most, sums[at]);
  }
  for (const auto& [place, load] : listed_) sums[static_cast<std::size_t>(place)] = 0.0;
  return most;
}

Seconds PlanBuilder::add(std::int32_t from, std::int32_t to, double weight) {
  if (cluster_.domain_of(from) == cluster_.domain_of(to)) return costs_.scale_up_latency;
  const int parts = cluster_.node_type.nics_of_accelerator;
  Seconds latency;
  for (int part = 0; part < parts; ++part) {
    latency = max(latency, add_part(from, to, part, weight / parts));
  }
  return latency;
}

Seconds PlanBuilder::add_part(std::int32_t from, std::int32_t to, int part, double weight) {
  const VertexId own = cluster_.endpoint_of(from, part);
  const VertexId source = costs_.is_rail_local  ? cluster_.endpoint_on_rail_of(from, to, part)
                          : cluster_.rails_only ? cluster_.endpoint_towards(from, to, part)
                                                : own;
  const VertexId destination = cluster_.endpoint_of(to, part);
  const auto flow = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  Seconds latency = route(source, destination, flow, weight);
  if (source != own) {
    // Handed on inside the domain: one step more, and as much to receive there.
    latency += costs_.scale_up_latency;
    handed_on_.add(source, weight);
  }
  sent_.add(source, weight);
  received_.add(destination, weight);
  return latency;
}

Seconds PlanBuilder::route(VertexId source, VertexId destination, std::uint64_t flow,
                           double weight) {
  std::optional<Seconds>* of_class = nullptr;
  if (detail_ == PlanDetail::idle_nic) {
    if (const auto found = cluster_.routing->route_class(source, destination)) {
      const auto number = static_cast<std::size_t>(*found);
      if (number >= latency_of_class_.size()) latency_of_class_.resize(number + 1);
      of_class = &latency_of_class_[number];
      if (*of_class) return **of_class;
    }
  }
  route_.clear();
  cluster_.routing->append_route(source, destination, flow, route_);
  Seconds latency = costs_.scale_out_latency;
  for (const LinkShare& hop : route_) {
    if (detail_ == PlanDetail::fabric) {
      const Link& link = cluster_.topology.link(hop.link);
      weights_.add(hop.link, weight * hop.share / filling(link));
    }
    latency += cluster_.topology.latency(hop.link) * hop.share;
  }
  if (of_class != nullptr) *of_class = latency;
  return latency;
}

Seconds PlanBuilder::add_all_pairs(std::span<const std::int32_t> accelerators, double weight) {
  const std::vector<AllRoutes> counted = all_routes(accelerators);
  Seconds longest;
  if (counted.empty()) {
    follow(std::ssize(accelerators) * (std::ssize(accelerators) - 1));
    for (const std::int32_t from : accelerators) {
      for (const std::int32_t to : accelerators) {
        if (from != to) longest = max(longest, add(from, to, weight));
      }
    }
    return longest;
  }
  const double of_part = weight / static_cast<double>(counted.size());
  const double of_nic = static_cast<double>(accelerators.size() - 1) * of_part;
  for (int part = 0; part < std::ssize(counted); ++part) {
    const AllRoutes& all = counted[static_cast<std::size_t>(part)];
    for (const LinkShare& routes : all.links) {
      if (detail_ == PlanDetail::idle_nic) break;
      const Link& link = cluster_.topology.link(routes.link);
      weights_.add(routes.link, of_part * routes.share / filling(link));
    }
    for (const std::int32_t accelerator : accelerators) {
      sent_.add(cluster_.endpoint_of(accelerator, part), of_nic);
      received_.add(cluster_.endpoint_of(accelerator, part), of_nic);
    }
    longest = max(longest, route(all.from, all.to, 0, 0.0));
  }
  return longest;
}

void PlanBuilder::follow(std::int64_t messages) {
  followed_ += messages;
  if (followed_ <= limits().messages) return;
  Diagnostic problem;
  problem.message = fmt::format(
      "all-to-alls that run at once send more than {} messages, which are followed one by one to "
      "the links they load",
      grouped_digits(limits().messages));
  problem.help = "let fewer ranks, or more and smaller groups, exchange with each other; " +
                 limit_help(&Limits::messages);
  throw InputError(std::move(problem));
}

std::vector<AllRoutes> PlanBuilder::all_routes(std::span<const std::int32_t> accelerators) const {
  if (costs_.is_rail_local || cluster_.rails_only) return {};
  std::vector<int> domains;
  for (const std::int32_t accelerator : accelerators) {
    domains.push_back(cluster_.domain_of(accelerator));
  }
  std::ranges::sort(domains);
  if (std::ranges::adjacent_find(domains) != domains.end()) return {};
  std::vector<AllRoutes> of_parts;
  for (int part = 0; part < cluster_.node_type.nics_of_accelerator; ++part) {
    std::vector<VertexId> endpoints;
    for (const std::int32_t accelerator : accelerators) {
      endpoints.push_back(cluster_.endpoint_of(accelerator, part));
    }
    auto routes = cluster_.routing->routes_between_all(endpoints);
    if (!routes) return {};
    of_parts.push_back(std::move(*routes));
  }
  return of_parts;
}

Seconds PlanBuilder::add_reduction(const std::vector<std::int32_t>& members, double weight) {
  const int parts = cluster_.node_type.nics_of_accelerator;
  Seconds longest;
  for (int part = 0; part < parts; ++part) {
    longest = max(longest, add_reduction_of_part(members, part, weight / parts));
  }
  return longest;
}

Seconds PlanBuilder::add_reduction_of_part(const std::vector<std::int32_t>& members, int part,
                                           double weight) {
  std::map<LinkId, double> once;
  Seconds longest;
  const VertexId root = cluster_.endpoint_of(members.front(), part);
  for (const std::int32_t member : members) {
    route_.clear();
    const VertexId source = cluster_.endpoint_of(member, part);
    cluster_.routing->append_route(source, root, 0, route_);
    Seconds latency = costs_.scale_out_latency;
    for (const LinkShare& hop : route_) {
      once[hop.link] = std::max(once[hop.link], hop.share);
      double& back = once[Topology::reverse(hop.link)];
      back = std::max(back, hop.share);
      latency += cluster_.topology.latency(hop.link) * hop.share;
    }
    longest = max(longest, latency);
    sent_.add(source, weight);
    received_.add(source, weight);
  }
  for (const auto& [link, share] : once) {
    if (detail_ != PlanDetail::fabric) break;
    weights_.add(link, weight * share / filling(cluster_.topology.link(link)));
  }
  return longest;
}

PlanBuilder::PlanBuilder(const Cluster& cluster, const NetworkCosts& costs, PlanDetail detail)
    : cluster_(cluster),
      costs_(costs),
      detail_(detail),
      scale_up_(cluster.node_type.scale_up_bandwidth),
      nic_(cluster.node_type.nic_bandwidth) {}

void PlanBuilder::reserve(std::size_t messages) {
  sent_.reserve(messages);
  received_.reserve(messages);
}

void PlanBuilder::take_part(std::span<const std::int32_t> accelerators) {
  if (cluster_.kinds() == 1) return;
  for (const std::int32_t accelerator : accelerators) {
    const NodeType& type = cluster_.type_of(accelerator);
    scale_up_ = are_known_ ? min(scale_up_, type.scale_up_bandwidth) : type.scale_up_bandwidth;
    nic_ = are_known_ ? min(nic_, type.nic_bandwidth) : type.nic_bandwidth;
    are_known_ = true;
  }
}

void PlanBuilder::use_scale_up(double weight) {
  scale_up_weight_ = std::max(scale_up_weight_, weight);
}

FlowPlan PlanBuilder::finished(Seconds latency) const {
  FlowPlan plan;
  plan.latency = latency;
  plan.links = weights_.sums();
  // A NIC sends and receives at once, each at its full rate.
  const double crossing = std::max(sent_.largest_sum(), received_.largest_sum());
  const double scale_up = scale_up_weight_ + handed_on_.largest_sum();
  if (scale_up > 0.0) {
    plan.port_rate = costs_.scale_up_efficiency / scale_up * scale_up_;
    plan.rate_cap = plan.port_rate;
  }
  plan.crosses_fabric = crossing > 0.0;
  plan.latency += crossing > 0.0 ? costs_.scale_out_overhead : costs_.scale_up_overhead;
  if (crossing > 0.0) {
    plan.nic_rate = 1.0 / crossing * nic_;
    // The fabric's links bound a flow that knows them; the cap is what software leaves of a NIC,
    // and of one with several links, as on a torus, what it has for all together.
    if (costs_.scale_out_efficiency < 1.0 || detail_ == PlanDetail::idle_nic ||
        cluster_.topology.switch_count() == 0) {
      plan.rate_cap = min(plan.rate_cap, costs_.scale_out_efficiency / crossing * nic_);
    }
  }
  return plan;
}

FlowPlan PlanBuilder::relieved(Seconds latency) const {
  FlowPlan plan = finished(latency);
  if (!cluster_.routing->sees_load()) return plan;
  const Topology& topology = cluster_.topology;
  BytesPerSecond pace = plan.rate_cap;  // what the ends of the ways let through
  std::vector<LinkShare> loads;
  for (const LinkLoad& load : plan.links) {
    const Link& link = topology.link(load.link);
    const bool is_end = !topology.is_switch(link.from) || !topology.is_switch(link.to);
    if (is_end) pace = min(pace, link.capacity / load.weight);
    loads.push_back({.link = load.link, .share = load.weight});
  }
  cluster_.routing->relieve(topology, pace, loads);
  plan.links.clear();
  for (const LinkShare& load : loads) {
    plan.links.push_back({.link = load.link, .weight = load.share});
  }
  return plan;
}

double PlanBuilder::filling(const Link& link) const {
  const bool is_inner =
      cluster_.topology.is_switch(link.from) && cluster_.topology.is_switch(link.to);
  return is_inner ? cluster_.routing->efficiency() : 1.0;
}

}  // namespace headway
