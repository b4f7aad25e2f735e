#include "sim/programs/stage_costs/exchange_plans.h"

#include <functional>
#include <utility>

#include "sim/programs/flows/collective_shapes.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/flows/plan_builder.h"

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

/// Groups of `size` of the ranks that are `stride` apart.
Groups groups_of(const Members& ranks, int size, int stride) {
  Groups groups;
  const auto block = static_cast<std::size_t>(size) * static_cast<std::size_t>(stride);
  for (std::size_t first = 0; first + block <= ranks.size(); first += block) {
    for (std::size_t offset = 0; offset < static_cast<std::size_t>(stride); ++offset) {
      Members members;
      for (std::size_t i = offset; i < block; i += static_cast<std::size_t>(stride)) {
        members.push_back(ranks[first + i]);
      }
      groups.push_back(std::move(members));
    }
  }
  return groups;
}

/// Each member sends as much to every member of every other domain, on the receiver's rail.
void add_exchange(PlanBuilder& builder, const Cluster& cluster, const Members& members) {
  const Domains domains = by_domain(cluster, members);
  const double part = 1.0 / static_cast<double>(members.size());
  for (const Members& from : domains) {
    for (const Members& to : domains) {
      if (&from == &to) continue;
      for (std::size_t i = 0; i < to.size(); ++i) {
        builder.add(from[i % from.size()], to[i], part * static_cast<double>(from.size()));
      }
    }
  }
}

using AddGroup = std::function<void(PlanBuilder&, const Members&)>;

}  // namespace

ExchangePlans exchange_plans(const Strategy& strategy, const Cluster& cluster,
                             const Placement& placement) {
  const NetworkCosts costs = ideal_network_costs(cluster.node_type);
  const auto plans_of = [&](int size, int stride, const AddGroup& add_group) {
    std::vector<FlowPlan> plans;
    for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
      PlanBuilder builder(cluster, costs, PlanDetail::fabric);
      const Members ranks = ranks_of_stage(strategy, placement, stage);
      for (const Members& members : groups_of(ranks, size, stride)) add_group(builder, members);
      plans.push_back(builder.finished(Seconds(0.0)));
    }
    return plans;
  };
  const AddGroup swap = [&](PlanBuilder& builder, const Members& members) {
    add_exchange(builder, cluster, members);
  };
  const auto collective = [&](CollectiveKind kind) -> AddGroup {
    return [&, kind](PlanBuilder& builder, const Members& members) {
      static_cast<void>(
          add_collective(builder, cluster, costs, kind, CollectiveAlgorithm::ring, members));
    };
  };
  ExchangePlans plans;
  const int domain = cluster.scale_up_domain;
  const int tensor = strategy.tensor_parallel;
  if (tensor > domain) plans.tensor = plans_of(tensor, 1, collective(CollectiveKind::all_gather));
  if (strategy.context_parallel > 1 && tensor * strategy.context_parallel > domain) {
    const bool is_ring = strategy.context_parallel_method == ContextParallelMethod::ring;
    plans.context = plans_of(strategy.context_parallel, tensor,
                             is_ring ? collective(CollectiveKind::send_receive) : swap);
  }
  if (strategy.expert_parallel > 1 && strategy.expert_group() > domain) {
    plans.experts = plans_of(strategy.expert_parallel, strategy.expert_tensor_parallel, swap);
  }
  return plans;
}

}  // namespace headway
