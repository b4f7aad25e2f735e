#include "sim/programs/flows/collective_shapes.h"

#include <algorithm>
#include <map>

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/binary_tree.h"

namespace headway {

Domains by_domain(const Cluster& cluster, const std::vector<std::int32_t>& members) {
  Domains domains;
  std::map<int, std::size_t> known;
  for (const std::int32_t member : members) {
    const auto [entry, is_new] = known.emplace(cluster.domain_of(member), domains.size());
    if (is_new) domains.emplace_back();
    domains[entry->second].push_back(member);
  }
  return domains;
}

namespace {

/// Rings that run side by side: as many as every domain has members to feed.
std::size_t parallel_rings(const Domains& domains) {
  std::size_t rings = domains.front().size();
  for (const auto& domain : domains) rings = std::min(rings, domain.size());
  return rings;
}

std::size_t largest_domain(const Domains& domains) {
  std::size_t largest = 1;
  for (const auto& domain : domains) largest = std::max(largest, domain.size());
  return largest;
}

/// A reduce-scatter and an all-gather around a ring of each domain. Returns their latency.
Seconds ring_inside(PlanBuilder& builder, const Domains& domains, const NetworkCosts& costs) {
  const std::size_t largest = largest_domain(domains);
  const auto others = static_cast<double>(largest - 1);
  if (largest > 1) builder.use_scale_up(2.0 * others / static_cast<double>(largest));
  return 2.0 * others * costs.scale_up_latency;
}

/// Edges of all rings between domains. Returns the latency once around one ring.
Seconds add_rings(PlanBuilder& builder, const Domains& domains, const NetworkCosts& costs,
                  std::size_t members) {
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

/// Edges of the two trees between domains, each of which carries half the message, up and down,
/// spread over the rails. Returns the latency of the way to the root and back.
Seconds add_trees_between(PlanBuilder& builder, const Domains& domains, double bytes_factor) {
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
  return 2.0 * static_cast<double>(double_tree_depth(count)) * per_hop;
}

/// A chain inside each domain, up and down.
Seconds add_trees(PlanBuilder& builder, const Domains& domains, const NetworkCosts& costs,
                  double bytes_factor) {
  const Seconds between = add_trees_between(builder, domains, bytes_factor);
  const std::size_t largest = largest_domain(domains);
  if (largest > 1) builder.use_scale_up(1.0);
  return between + 2.0 * static_cast<double>(largest - 1) * costs.scale_up_latency;
}

/// The switches of each domain add up, so that a member sends and receives the message once; each
/// takes its part of the sum to the trees of its rail.
Seconds add_nvls(PlanBuilder& builder, const Domains& domains) {
  builder.use_scale_up(1.0);
  return add_trees_between(builder, domains, 1.0);
}

/// Reduced and scattered around a ring of the domain, reduced around a ring on each rail, gathered
/// around the ring of the domain; pipelined, so that it goes at the pace of the slowest of them.
Seconds add_hierarchy(PlanBuilder& builder, const Domains& domains, const NetworkCosts& costs) {
  const std::size_t rails = parallel_rings(domains);
  const auto count = static_cast<double>(domains.size());
  const double weight = 2.0 * (count - 1.0) / count / static_cast<double>(rails);
  Seconds per_hop;
  for (std::size_t d = 0; d < domains.size() && domains.size() > 1; ++d) {
    for (std::size_t rail = 0; rail < rails; ++rail) {
      const std::int32_t next = domains[(d + 1) % domains.size()][rail];
      per_hop = max(per_hop, builder.add(domains[d][rail], next, weight));
    }
  }
  return 2.0 * (count - 1.0) * per_hop + ring_inside(builder, domains, costs);
}

/// A tree of switches on each rail, for its part of the message; inside a domain the parts are
/// reduced before and gathered after, around rings.
Seconds add_switch_trees(PlanBuilder& builder, const Domains& domains, const NetworkCosts& costs) {
  const std::size_t rails = parallel_rings(domains);
  Seconds longest;
  for (std::size_t rail = 0; rail < rails && domains.size() > 1; ++rail) {
    std::vector<std::int32_t> members;
    for (const auto& domain : domains) members.push_back(domain[rail]);
    longest = max(longest, builder.add_reduction(members, 1.0 / static_cast<double>(rails)));
  }
  return longest + ring_inside(builder, domains, costs);
}

/// Every pair exchanges 1/ranks of the message; the amount is what one rank sends. Returns the
/// latency of all of it.
Seconds add_all_pairs(PlanBuilder& builder, const std::vector<std::int32_t>& members,
                      const Cluster& cluster, const NetworkCosts& costs) {
  const double others = static_cast<double>(members.size() - 1);
  Seconds slowest;
  std::map<int, int> of_domain;
  for (const std::int32_t from : members) {
    ++of_domain[cluster.domain_of(from)];
    for (const std::int32_t to : members) {
      if (from != to) slowest = max(slowest, builder.add(from, to, 1.0 / others));
    }
  }
  int largest = 1;
  int smallest = static_cast<int>(members.size());
  for (const auto& [domain, count] : of_domain) {
    largest = std::max(largest, count);
    smallest = std::min(smallest, count);
  }
  if (largest > 1) builder.use_scale_up((largest - 1) / others);
  if (!costs.message_overhead) return others * slowest;
  const Seconds inside = static_cast<double>(largest - 1) * costs.scale_up_latency;
  const auto remote = static_cast<double>(members.size()) - smallest;
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

}  // namespace

Seconds add_collective(PlanBuilder& builder, const Cluster& cluster, const NetworkCosts& costs,
                       CollectiveKind kind, CollectiveAlgorithm algorithm,
                       const std::vector<std::int32_t>& members) {
  if (kind == CollectiveKind::all_to_all) return add_all_pairs(builder, members, cluster, costs);
  if (kind == CollectiveKind::send_receive) return add_neighbours(builder, members, cluster);
  const Domains domains = by_domain(cluster, members);
  const int ranks = static_cast<int>(members.size());
  const CollectiveVolume volume = collective_volume(kind, algorithm, ranks);
  switch (algorithm) {
    case CollectiveAlgorithm::ring:
      return volume.steps / static_cast<double>(ranks) *
             add_rings(builder, domains, costs, members.size());
    case CollectiveAlgorithm::tree:
      return add_trees(builder, domains, costs, volume.bytes_factor);
    case CollectiveAlgorithm::in_network:
      return add_switch_trees(builder, domains, costs);
    case CollectiveAlgorithm::nvls:
      return add_nvls(builder, domains);
    case CollectiveAlgorithm::hierarchical:
      return add_hierarchy(builder, domains, costs);
  }
  HEADWAY_CHECK(false, "unknown algorithm");
}

}  // namespace headway
