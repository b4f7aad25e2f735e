#include "sim/programs/flows/collective_shapes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/algorithms/algorithm.h"
#include "sim/programs/flows/numbering.h"

namespace headway {

Domains::Domains(const Cluster& cluster, std::span<const std::int32_t> members)
    : members_(members.size()) {
  Numbering numbers(members.size());
  std::vector<std::size_t> domain_of;  // by member
  domain_of.reserve(members.size());
  for (const std::int32_t member : members) {
    domain_of.push_back(numbers.number_of(cluster.domain_of(member)));
  }
  first_.assign(numbers.size() + 1, 0);
  for (const std::size_t domain : domain_of) ++first_[domain + 1];
  largest_ = std::ranges::max(first_);
  smallest_ = std::ranges::min(std::span(first_).subspan(1));
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < members.size(); ++i) members_[next[domain_of[i]]++] = members[i];
}

namespace {

/// The latency of messages of one rank to as many others, the last of which takes `slowest` on its
/// way: software takes its part of a step for each of them, and all are under way at once.
Seconds in_turn(double others, Seconds slowest, bool crosses, const NetworkCosts& costs) {
  if (costs.posts_at_once) return slowest;
  const Seconds step = crosses ? costs.scale_out_latency : costs.scale_up_latency;
  return (others - 1.0) * step + slowest;
}

/// Every pair exchanges 1/ranks of the message; the amount is what one rank sends. Returns the
/// latency of all of it.
Seconds add_all_pairs(PlanBuilder& builder, const std::vector<std::int32_t>& members,
                      const Cluster& cluster, const NetworkCosts& costs) {
  const double others = static_cast<double>(members.size() - 1);
  const Seconds slowest = builder.add_all_pairs(members, 1.0 / others);
  std::map<int, int> of_domain;
  for (const std::int32_t member : members) ++of_domain[cluster.domain_of(member)];
  int largest = 1;
  int smallest = static_cast<int>(members.size());
  for (const auto& [domain, count] : of_domain) {
    largest = std::max(largest, count);
    smallest = std::min(smallest, count);
  }
  if (largest > 1) builder.use_scale_up((largest - 1) / others);
  const auto remote = static_cast<double>(members.size()) - smallest;
  if (!costs.message_overhead) return in_turn(others, slowest, remote > 0.0, costs);
  const Seconds inside = static_cast<double>(largest - 1) * costs.scale_up_latency;
  if (remote == 0.0) return inside;
  return max(inside, slowest + 2.0 * remote * *costs.message_overhead);
}

/// nccl-tests' sendrecv: every rank sends to the next one and receives from the one before.
Seconds add_neighbours(PlanBuilder& builder, const std::vector<std::int32_t>& members,
                       const Cluster& cluster) {
  Seconds slowest;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::int32_t next = members[(i + 1) % members.size()];
    slowest = max(slowest, builder.add(members[i], next, 1.0));
    if (cluster.domain_of(members[i]) == cluster.domain_of(next)) builder.use_scale_up(1.0);
  }
  return slowest;
}

/// The first member gets 1/ranks of the message from every other one, or sends it; the amount is
/// what passes it.
Seconds add_root(PlanBuilder& builder, const std::vector<std::int32_t>& members,
                 const Cluster& cluster, const NetworkCosts& costs, bool is_gather) {
  const std::int32_t root = members.front();
  const double others = static_cast<double>(members.size() - 1);
  Seconds slowest;
  int inside = 0;
  for (const std::int32_t member : members) {
    if (member == root) continue;
    const Seconds way = is_gather ? builder.add(member, root, 1.0 / others)
                                  : builder.add(root, member, 1.0 / others);
    slowest = max(slowest, way);
    if (cluster.domain_of(member) == cluster.domain_of(root)) ++inside;
  }
  if (inside > 0) builder.use_scale_up(inside / others);
  const double remote = others - inside;
  if (!costs.message_overhead) return in_turn(others, slowest, remote > 0.0, costs);
  const Seconds near = static_cast<double>(inside) * costs.scale_up_latency;
  return remote == 0.0 ? near : max(near, slowest + remote * *costs.message_overhead);
}

}  // namespace

Seconds add_collective(PlanBuilder& builder, const Cluster& cluster, const NetworkCosts& costs,
                       CollectiveKind kind, CollectiveAlgorithm algorithm,
                       const std::vector<std::int32_t>& members, const Domains& domains) {
  if (kind == CollectiveKind::all_to_all) return add_all_pairs(builder, members, cluster, costs);
  if (kind == CollectiveKind::send_receive) return add_neighbours(builder, members, cluster);
  if (kind == CollectiveKind::gather || kind == CollectiveKind::scatter) {
    return add_root(builder, members, cluster, costs, kind == CollectiveKind::gather);
  }
  return kind_of(algorithm).lay({.cluster = cluster,
                                 .builder = builder,
                                 .members = members,
                                 .domains = domains,
                                 .costs = costs,
                                 .kind = kind});
}

}  // namespace headway
