#include "sim/programs/flows/plan_builder.h"

#include <algorithm>
#include <map>

namespace headway {
namespace {

/// Each place once, in order, with what was added for it in the order in which it was.
template <typename Loads>
void add_up(Loads& loads) {
  std::ranges::stable_sort(loads, {}, &Loads::value_type::first);
  std::size_t last = 0;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    if (loads[i].first == loads[last].first) {
      loads[last].second += loads[i].second;
    } else {
      loads[++last] = loads[i];
    }
  }
  if (!loads.empty()) loads.resize(last + 1);
}

/// The most that adds up at any place.
template <typename Loads>
double busiest(const Loads& loads) {
  // Places are numbered from 0 on; all that is noted of them goes again.
  thread_local std::vector<double> sums;
  double most = 0.0;
  for (const auto& [place, load] : loads) {
    const auto at = static_cast<std::size_t>(place);
    if (at >= sums.size()) sums.resize(at + 1);
    sums[at] += load;
    most = std::max(most, sums[at]);
  }
  for (const auto& [place, load] : loads) sums[static_cast<std::size_t>(place)] = 0.0;
  return most;
}

}  // namespace

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
    handed_on_.emplace_back(source, weight);
  }
  sent_.emplace_back(source, weight);
  received_.emplace_back(destination, weight);
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
      weights_.emplace_back(hop.link, weight * hop.share / filling(link));
    }
    latency += cluster_.topology.latency(hop.link) * hop.share;
  }
  if (of_class != nullptr) *of_class = latency;
  return latency;
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
    sent_.emplace_back(source, weight);
    received_.emplace_back(source, weight);
  }
  for (const auto& [link, share] : once) {
    if (detail_ != PlanDetail::fabric) break;
    weights_.emplace_back(link, weight * share / filling(cluster_.topology.link(link)));
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
  Loads<LinkId> weights = weights_;
  add_up(weights);
  for (const auto& [link, weight] : weights) plan.links.push_back({link, weight});
  // A NIC sends and receives at once, each at its full rate.
  const double crossing = std::max(busiest(sent_), busiest(received_));
  const double scale_up = scale_up_weight_ + busiest(handed_on_);
  if (scale_up > 0.0) {
    plan.port_rate = costs_.scale_up_efficiency / scale_up * scale_up_;
    plan.rate_cap = plan.port_rate;
  }
  plan.crosses_fabric = crossing > 0.0;
  plan.latency += crossing > 0.0 ? costs_.scale_out_overhead : costs_.scale_up_overhead;
  if (crossing > 0.0) {
    plan.nic_rate = 1.0 / crossing * nic_;
    // The fabric's links bound a flow that knows them; the cap is what software leaves of a NIC.
    if (costs_.scale_out_efficiency < 1.0 || detail_ == PlanDetail::idle_nic) {
      plan.rate_cap = min(plan.rate_cap, costs_.scale_out_efficiency / crossing * nic_);
    }
  }
  return plan;
}

double PlanBuilder::filling(const Link& link) const {
  const bool is_inner =
      cluster_.topology.is_switch(link.from) && cluster_.topology.is_switch(link.to);
  return is_inner ? cluster_.routing->efficiency() : 1.0;
}

}  // namespace headway
