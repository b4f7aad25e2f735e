#include "sim/workload/fabric_share.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "sim/workload/collective_shapes.h"
#include "sim/workload/flow_plans.h"
#include "sim/workload/plan_builder.h"

namespace headway {
namespace {

using Members = std::vector<std::int32_t>;
using Groups = std::vector<Members>;

/// The accelerators of a stage as its ranks are counted: tensor-parallel ones first.
Members ranks_of_stage(const Strategy& strategy, const Placement& placement, int stage) {
  Members ranks;
  for (int d = 0; d < strategy.data_parallel; ++d) {
    for (int c = 0; c < strategy.context_parallel; ++c) {
      for (int t = 0; t < strategy.tensor_parallel; ++t) {
        ranks.push_back(placement.accelerator(t, c, d, stage));
      }
    }
  }
  return ranks;
}

/// Groups of `size` ranks that are `stride` apart, of all stages.
Groups groups_of(const Strategy& strategy, const Placement& placement, int size, int stride) {
  Groups groups;
  const auto block = static_cast<std::size_t>(size) * static_cast<std::size_t>(stride);
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    const Members ranks = ranks_of_stage(strategy, placement, stage);
    for (std::size_t first = 0; first + block <= ranks.size(); first += block) {
      for (std::size_t offset = 0; offset < static_cast<std::size_t>(stride); ++offset) {
        Members members;
        for (std::size_t i = offset; i < block; i += static_cast<std::size_t>(stride)) {
          members.push_back(ranks[first + i]);
        }
        groups.push_back(std::move(members));
      }
    }
  }
  return groups;
}

/// Each member sends as much to every member of every other domain, on the receiver's rail.
void add_exchange(PlanBuilder& builder, const Cluster& cluster, const Members& members) {
  const Domains domains = by_domain(cluster, members);
  for (const Members& from : domains) {
    for (const Members& to : domains) {
      if (&from == &to) continue;
      for (std::size_t i = 0; i < to.size(); ++i) {
        builder.add(from[i % from.size()], to[i], static_cast<double>(from.size()));
      }
    }
  }
}

using AddGroup = std::function<void(PlanBuilder&, const Members&)>;

double share(const Cluster& cluster, const Groups& groups, const AddGroup& add_group) {
  const NetworkCosts costs = ideal_network_costs(cluster.node_type);
  PlanBuilder builder(cluster, costs, PlanDetail::fabric);
  for (const Members& members : groups) add_group(builder, members);
  Seconds at_nics;
  Seconds at_links;
  for (const LinkLoad& load : builder.finished(Seconds(0.0)).links) {
    const Link& link = cluster.topology.link(load.link);
    const Bytes bytes(load.weight);
    at_links = max(at_links, bytes / link.capacity);
    const bool is_of_nic =
        !cluster.topology.is_switch(link.from) || !cluster.topology.is_switch(link.to);
    if (is_of_nic) at_nics = max(at_nics, bytes / cluster.node_type.nic_bandwidth);
  }
  return at_links > at_nics ? at_nics / at_links : 1.0;
}

}  // namespace

FabricShares fabric_shares(const Strategy& strategy, const Cluster& cluster,
                           const Placement& placement) {
  FabricShares shares;
  const int domain = cluster.scale_up_domain;
  const int tensor = strategy.tensor_parallel;
  const auto swap = [&](PlanBuilder& builder, const Members& members) {
    add_exchange(builder, cluster, members);
  };
  const auto collective = [&](CollectiveKind kind) {
    return [&cluster, kind](PlanBuilder& builder, const Members& members) {
      static_cast<void>(add_collective(builder, cluster, ideal_network_costs(cluster.node_type),
                                       kind, CollectiveAlgorithm::ring, members));
    };
  };
  if (tensor > domain) {
    shares.tensor = share(cluster, groups_of(strategy, placement, tensor, 1),
                          collective(CollectiveKind::all_gather));
  }
  if (strategy.context_parallel > 1 && tensor * strategy.context_parallel > domain) {
    const bool is_ring = strategy.context_parallel_method == ContextParallelMethod::ring;
    shares.context =
        share(cluster, groups_of(strategy, placement, strategy.context_parallel, tensor),
              is_ring ? AddGroup(collective(CollectiveKind::send_receive)) : AddGroup(swap));
  }
  if (strategy.expert_parallel > 1 && strategy.expert_group() > domain) {
    shares.experts = share(
        cluster,
        groups_of(strategy, placement, strategy.expert_parallel, strategy.expert_tensor_parallel),
        swap);
  }
  return shares;
}

}  // namespace headway
