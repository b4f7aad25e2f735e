#include "sim/workload/flow_plans.h"

#include <algorithm>
#include <map>

#include "sim/base/diagnostic.h"
#include "sim/workload/binary_tree.h"

namespace headway {
namespace {

/// Gathers the links of one plan: flows of one plan that share a link add up on it.
class PlanBuilder {
 public:
  PlanBuilder(const Cluster& cluster, const NetworkCosts& costs, PlanDetail detail)
      : cluster_(cluster), costs_(costs), detail_(detail) {}

  /// `weight` bytes go from one accelerator to another for each byte of the flow. Returns the
  /// latency of a step between them.
  Seconds add(std::int32_t from, std::int32_t to, double weight) {
    if (cluster_.domain_of(from) == cluster_.domain_of(to)) return costs_.scale_up_latency;
    route_.clear();
    const VertexId source = cluster_.endpoint_towards(from, to);
    const VertexId destination = cluster_.endpoint_of(to);
    const auto flow = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    cluster_.routing->append_route(source, destination, flow, route_);
    Seconds latency = costs_.scale_out_latency;
    for (const LinkShare& hop : route_) {
      const Link& link = cluster_.topology.link(hop.link);
      if (detail_ == PlanDetail::fabric) weights_[hop.link] += weight * hop.share / filling(link);
      latency += link.latency * hop.share;
    }
    if (source != cluster_.endpoint_of(from)) {
      // Handed on inside the domain: one step more, and as much to receive there.
      latency += costs_.scale_up_latency;
      use_scale_up(handed_on_[source] += weight);
    }
    // A NIC sends and receives at once, each at its full rate.
    crossing_weight_ =
        std::max({crossing_weight_, sent_[source] += weight, received_[destination] += weight});
    return latency;
  }

  /// Switches add up `weight` bytes for each byte of the flow on the way from all members to the
  /// first one, and send the sum back: whatever meets on a link is one. Returns the latency of the
  /// longest way up and down.
  Seconds add_reduction(const std::vector<std::int32_t>& members, double weight) {
    std::map<LinkId, double> once;
    Seconds longest;
    const VertexId root = cluster_.endpoint_of(members.front());
    for (const std::int32_t member : members) {
      route_.clear();
      const VertexId source = cluster_.endpoint_of(member);
      cluster_.routing->append_route(source, root, 0, route_);
      Seconds latency = costs_.scale_out_latency;
      for (const LinkShare& hop : route_) {
        once[hop.link] = std::max(once[hop.link], hop.share);
        double& back = once[Topology::reverse(hop.link)];
        back = std::max(back, hop.share);
        latency += cluster_.topology.link(hop.link).latency * hop.share;
      }
      longest = max(longest, latency);
      crossing_weight_ =
          std::max({crossing_weight_, sent_[source] += weight, received_[source] += weight});
    }
    for (const auto& [link, share] : once) {
      if (detail_ != PlanDetail::fabric) break;
      weights_[link] += weight * share / filling(cluster_.topology.link(link));
    }
    return longest;
  }

  /// The scale-up fabric carries `weight` of the flow at each of its members.
  void use_scale_up(double weight) { scale_up_weight_ = std::max(scale_up_weight_, weight); }

  [[nodiscard]] FlowPlan finished(Seconds latency) const {
    FlowPlan plan;
    plan.latency = latency;
    for (const auto& [link, weight] : weights_) plan.links.push_back({link, weight});
    if (scale_up_weight_ > 0.0) {
      plan.rate_cap =
          costs_.scale_up_efficiency / scale_up_weight_ * cluster_.node_type.scale_up_bandwidth;
    }
    plan.crosses_fabric = crossing_weight_ > 0.0;
    plan.latency += crossing_weight_ > 0.0 ? costs_.scale_out_overhead : costs_.scale_up_overhead;
    // The fabric's links bound a flow that knows them; the cap is what software leaves of a NIC.
    if (crossing_weight_ > 0.0 &&
        (costs_.scale_out_efficiency < 1.0 || detail_ == PlanDetail::idle_nic)) {
      plan.rate_cap = min(plan.rate_cap, costs_.scale_out_efficiency / crossing_weight_ *
                                             cluster_.node_type.nic_bandwidth);
    }
    return plan;
  }

 private:
  /// What part of a link flows can fill.
  [[nodiscard]] double filling(const Link& link) const {
    const bool is_inner =
        cluster_.topology.is_switch(link.from) && cluster_.topology.is_switch(link.to);
    return is_inner ? cluster_.routing->efficiency() : 1.0;
  }

  const Cluster& cluster_;
  const NetworkCosts& costs_;
  PlanDetail detail_;
  std::map<LinkId, double> weights_;
  std::vector<LinkShare> route_;
  std::map<VertexId, double> sent_;  ///< by NIC, per byte of the flow
  std::map<VertexId, double> received_;
  std::map<VertexId, double> handed_on_;  ///< by the NIC that sends it for others of its node
  double crossing_weight_ = 0.0;          ///< of the busiest NIC
  double scale_up_weight_ = 0.0;
};

/// The members of one group by scale-up domain, in order of first appearance.
std::vector<std::vector<std::int32_t>> by_domain(const Cluster& cluster,
                                                 const std::vector<std::int32_t>& members) {
  std::vector<std::vector<std::int32_t>> domains;
  std::map<int, std::size_t> known;
  for (const std::int32_t member : members) {
    const auto [entry, is_new] = known.emplace(cluster.domain_of(member), domains.size());
    if (is_new) domains.emplace_back();
    domains[entry->second].push_back(member);
  }
  return domains;
}

/// Rings that run side by side: as many as every domain has members to feed.
std::size_t parallel_rings(const std::vector<std::vector<std::int32_t>>& domains) {
  std::size_t rings = domains.front().size();
  for (const auto& domain : domains) rings = std::min(rings, domain.size());
  return rings;
}

/// Edges of all rings between domains. Returns the latency once around one ring.
Seconds add_rings(PlanBuilder& builder, const std::vector<std::vector<std::int32_t>>& domains,
                  const NetworkCosts& costs, std::size_t members) {
  const std::size_t rings = parallel_rings(domains);
  Seconds around;
  for (std::size_t d = 0; d < domains.size() && domains.size() > 1; ++d) {
    const auto& here = domains[d];
    const auto& next = domains[(d + 1) % domains.size()];
    Seconds slowest;
    for (std::size_t ring = 0; ring < rings; ++ring) {
      const double weight = 1.0 / static_cast<double>(rings);
      slowest = max(slowest, builder.add(here[ring], next[ring], weight));
    }
    around += slowest;
  }
  const std::size_t crossings = domains.size() > 1 ? domains.size() : 0;
  if (members > crossings) {
    around += static_cast<double>(members - crossings) * costs.scale_up_latency;
    builder.use_scale_up(1.0);
  }
  return around;
}

/// Edges of the two trees between domains; each carries half the message, up and down, and is
/// spread over the rails. Returns the latency of the way to the root and back.
Seconds add_trees(PlanBuilder& builder, const std::vector<std::vector<std::int32_t>>& domains,
                  const NetworkCosts& costs, double bytes_factor) {
  Seconds per_hop;
  const int count = static_cast<int>(domains.size());
  const std::size_t rails = parallel_rings(domains);
  const double weight = 0.5 / bytes_factor / static_cast<double>(rails);
  for (const bool mirrored : {false, true}) {
    for (int node = 0; node < count; ++node) {
      const int parent = double_tree_parent(node, count, mirrored);
      if (parent < 0) continue;
      for (std::size_t rail = 0; rail < rails; ++rail) {
        const std::int32_t child_member = domains[static_cast<std::size_t>(node)][rail];
        const std::int32_t parent_member = domains[static_cast<std::size_t>(parent)][rail];
        per_hop = max(per_hop, builder.add(child_member, parent_member, weight));
        per_hop = max(per_hop, builder.add(parent_member, child_member, weight));
      }
    }
  }
  std::size_t largest = 1;
  for (const auto& domain : domains) largest = std::max(largest, domain.size());
  if (largest > 1) builder.use_scale_up(1.0);
  return 2.0 * (static_cast<double>(double_tree_depth(count)) * per_hop +
                static_cast<double>(largest - 1) * costs.scale_up_latency);
}

/// A tree of switches on each rail, for its part of the message; inside a domain the parts are
/// reduced before and gathered after, around rings.
Seconds add_switch_trees(PlanBuilder& builder,
                         const std::vector<std::vector<std::int32_t>>& domains,
                         const NetworkCosts& costs) {
  const std::size_t rails = parallel_rings(domains);
  Seconds longest;
  for (std::size_t rail = 0; rail < rails && domains.size() > 1; ++rail) {
    std::vector<std::int32_t> members;
    for (const auto& domain : domains) members.push_back(domain[rail]);
    longest = max(longest, builder.add_reduction(members, 1.0 / static_cast<double>(rails)));
  }
  std::size_t largest = 1;
  for (const auto& domain : domains) largest = std::max(largest, domain.size());
  const auto others = static_cast<double>(largest - 1);
  if (largest > 1) builder.use_scale_up(2.0 * others / static_cast<double>(largest));
  return longest + 2.0 * others * costs.scale_up_latency;
}

/// Every pair exchanges 1/ranks of the message; the amount is what one rank sends.
Seconds add_all_pairs(PlanBuilder& builder, const std::vector<std::int32_t>& members,
                      const Cluster& cluster) {
  const double weight = 1.0 / static_cast<double>(members.size() - 1);
  Seconds slowest;
  std::map<int, int> of_domain;
  for (const std::int32_t from : members) {
    ++of_domain[cluster.domain_of(from)];
    for (const std::int32_t to : members) {
      if (from != to) slowest = max(slowest, builder.add(from, to, weight));
    }
  }
  int largest = 1;
  for (const auto& [domain, count] : of_domain) largest = std::max(largest, count);
  if (largest > 1) builder.use_scale_up(weight * (largest - 1));
  return slowest;
}

}  // namespace

NetworkCosts network_costs(const Profile& profile) {
  return {.scale_up_efficiency = profile.scale_up.bandwidth_efficiency.value,
          .scale_up_latency = Seconds(profile.scale_up.latency.value),
          .scale_up_overhead = Seconds(profile.scale_up.overhead.value),
          .scale_out_efficiency = profile.scale_out.bandwidth_efficiency.value,
          .scale_out_latency = Seconds(profile.scale_out.latency.value),
          .scale_out_overhead = Seconds(profile.scale_out.overhead.value)};
}

NetworkCosts ideal_network_costs(const NodeType& node_type) {
  return {.scale_up_latency = node_type.scale_up_latency,
          .scale_out_latency = 2.0 * node_type.nic_latency};
}

FlowPlan transfer_plan(const Cluster& cluster, const NetworkCosts& costs,
                       std::span<const std::int32_t> senders,
                       std::span<const std::int32_t> receivers, PlanDetail detail) {
  HEADWAY_CHECK(senders.size() == receivers.size(), "senders and receivers come in pairs");
  PlanBuilder builder(cluster, costs, detail);
  Seconds latency;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    latency = max(latency, builder.add(senders[i], receivers[i], 1.0));
    if (cluster.domain_of(senders[i]) == cluster.domain_of(receivers[i])) builder.use_scale_up(1.0);
  }
  return builder.finished(latency);
}

FlowPlan collective_plan(const Cluster& cluster, const NetworkCosts& costs, CollectiveKind kind,
                         CollectiveAlgorithm algorithm, const CollectiveGroups& groups,
                         PlanDetail detail) {
  HEADWAY_CHECK(!groups.empty(), "a collective needs a group");
  HEADWAY_CHECK(!groups.front().empty(), "a collective needs members");
  const int ranks = static_cast<int>(groups.front().size());
  if (ranks == 1) return {};
  HEADWAY_CHECK(has_algorithm(kind, algorithm), "no such algorithm for this collective");
  const CollectiveVolume volume = collective_volume(kind, algorithm, ranks);
  PlanBuilder builder(cluster, costs, detail);
  Seconds latency;
  for (const std::vector<std::int32_t>& members : groups) {
    Seconds of_group;
    if (kind == CollectiveKind::all_to_all) {
      of_group = volume.steps * add_all_pairs(builder, members, cluster);
    } else if (kind == CollectiveKind::send_receive) {
      // nccl-tests: every rank sends to the next one and receives from the one before.
      Seconds slowest;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::int32_t next = members[(i + 1) % members.size()];
        slowest = max(slowest, builder.add(members[i], next, 1.0));
        if (cluster.domain_of(members[i]) == cluster.domain_of(next)) builder.use_scale_up(1.0);
      }
      of_group = volume.steps * slowest;
    } else if (algorithm == CollectiveAlgorithm::tree) {
      of_group = add_trees(builder, by_domain(cluster, members), costs, volume.bytes_factor);
    } else if (algorithm == CollectiveAlgorithm::in_network) {
      of_group = add_switch_trees(builder, by_domain(cluster, members), costs);
    } else {
      const Seconds around = add_rings(builder, by_domain(cluster, members), costs, members.size());
      of_group = volume.steps / static_cast<double>(ranks) * around;
    }
    latency = max(latency, of_group);
  }
  return builder.finished(latency);
}

Seconds idle_time(const FlowPlan& plan, const Topology& topology, Bytes amount) {
  BytesPerSecond rate = plan.rate_cap;
  for (const LinkLoad& load : plan.links) {
    rate = min(rate, topology.link(load.link).capacity / load.weight);
  }
  return plan.latency + amount / rate;
}

}  // namespace headway
