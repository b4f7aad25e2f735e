#include "sim/programs/flows/flow_plans.h"

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/collective_shapes.h"
#include "sim/programs/flows/plan_builder.h"

namespace headway {

double share_let_through(const NodeType& node, CollectiveKind kind) {
  const TransportCosts& transport = node.transport.costs;
  double share = 1.0;
  if (transport.connection) {
    const bool has_many = is_of_messages(kind) && kind != CollectiveKind::send_receive;
    const double connections = has_many ? transport.spread_connections : 1.0;
    share = std::min(share, connections * (*transport.connection / node.nic_bandwidth));
  }
  if (transport.encryption) share = std::min(share, *transport.encryption / node.nic_bandwidth);
  return share;
}

NetworkCosts network_costs(const Profile& profile, const NodeType& node, CollectiveKind kind) {
  NetworkCosts costs{.scale_up_efficiency = profile.scale_up.bandwidth_efficiency.value,
                     .scale_up_latency = Seconds(profile.scale_up.latency.value),
                     .scale_up_overhead = Seconds(profile.scale_up.overhead.value),
                     .scale_out_efficiency = profile.scale_out.bandwidth_efficiency.value,
                     .scale_out_latency = Seconds(profile.scale_out.latency.value),
                     .scale_out_overhead = Seconds(profile.scale_out.overhead.value)};
  if (profile.kind == "measured") return costs;
  costs.scale_out_latency += 2.0 * node.nic_latency;
  const TransportCosts& transport = node.transport.costs;
  costs.scale_out_latency += transport.message_latency + transport.encryption_latency;
  const auto allow = [&](double share) {
    costs.scale_out_efficiency = std::min(costs.scale_out_efficiency, share);
  };
  if (transport.goodput < TransportCosts{}.goodput) allow(transport.goodput);
  allow(share_let_through(node, kind));
  return costs;
}

NetworkCosts ideal_network_costs(const NodeType& node_type) {
  return {.scale_up_latency = node_type.scale_up_latency,
          .scale_out_latency = 2.0 * node_type.nic_latency,
          .posts_at_once = true};
}

FlowPlan transfer_plan(const Cluster& cluster, const NetworkCosts& costs,
                       std::span<const std::int32_t> senders,
                       std::span<const std::int32_t> receivers, PlanDetail detail) {
  HEADWAY_CHECK(senders.size() == receivers.size(), "senders and receivers come in pairs");
  PlanBuilder builder(cluster, costs, detail);
  builder.take_part(senders);
  builder.take_part(receivers);
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
  return collective_plan(cluster, costs, kind, algorithm, groups, by_domain(cluster, groups),
                         detail);
}

std::vector<Domains> by_domain(const Cluster& cluster, const CollectiveGroups& groups) {
  std::vector<Domains> domains;
  domains.reserve(groups.size());
  for (const std::vector<std::int32_t>& members : groups) domains.emplace_back(cluster, members);
  return domains;
}

FlowPlan collective_plan(const Cluster& cluster, const NetworkCosts& costs, CollectiveKind kind,
                         CollectiveAlgorithm algorithm, const CollectiveGroups& groups,
                         std::span<const Domains> domains, PlanDetail detail) {
  HEADWAY_CHECK(!groups.empty(), "a collective needs a group");
  HEADWAY_CHECK(!groups.front().empty(), "a collective needs members");
  const int ranks = static_cast<int>(groups.front().size());
  if (ranks == 1) return {};
  HEADWAY_CHECK(has_algorithm(kind, algorithm), "no such algorithm for this collective");
  PlanBuilder builder(cluster, costs, detail);
  builder.reserve(groups.size() * groups.front().size());
  Seconds latency;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    builder.take_part(groups[i]);
    latency = max(latency,
                  add_collective(builder, cluster, costs, kind, algorithm, groups[i], domains[i]));
  }
  return builder.relieved(latency);
}

BytesPerSecond rate_on_links(const FlowPlan& plan, const Topology& topology, BytesPerSecond most) {
  BytesPerSecond rate = most;
  for (const LinkLoad& load : plan.links) {
    rate = min(rate, topology.link(load.link).capacity / load.weight);
  }
  return rate;
}

Seconds idle_time(const FlowPlan& plan, const Topology& topology, Bytes amount) {
  return plan.latency + amount / rate_on_links(plan, topology, plan.rate_cap);
}

}  // namespace headway
