#include "sim/programs/stage_costs/exchange_plans.h"

#include <functional>
#include <numeric>

#include "sim/jobs/strategy.h"
#include "sim/programs/flows/collective_shapes.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/flows/plan_builder.h"
#include "sim/programs/stage_costs/expert_cost.h"
#include "sim/programs/stage_costs/group_place.h"

namespace headway {
namespace {

using Members = std::vector<std::int32_t>;
/// How much of what a rank hands its group goes from all ranks of one domain to those of another,
/// by their numbers.
using Crossing = std::function<double(int from, int to)>;

void add_exchange(PlanBuilder& builder, const Domains& domains, const Crossing& crossing) {
  for (std::size_t a = 0; a < domains.size(); ++a) {
    for (std::size_t b = 0; b < domains.size(); ++b) {
      if (a == b) continue;
      const std::span<const std::int32_t> from = domains[a];
      const std::span<const std::int32_t> to = domains[b];
      // Every lane joins a sender and a receiver; each has as many lanes as the others.
      const std::size_t lanes = std::lcm(from.size(), to.size());
      const double sent = crossing(static_cast<int>(from.size()), static_cast<int>(to.size()));
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        builder.add(from[lane % from.size()], to[lane % to.size()],
                    sent / static_cast<double>(lanes));
      }
    }
  }
}

}  // namespace

FlowPlan exchange_plan(ExchangeKind kind, const Model& model, const Strategy& strategy,
                       const Cluster& cluster, std::span<const Members> groups) {
  const NetworkCosts costs = ideal_network_costs(cluster.node_type);
  PlanBuilder builder(cluster, costs, PlanDetail::fabric);
  const auto add_ring = [&](const Members& members, CollectiveKind collective) {
    static_cast<void>(add_collective(builder, cluster, costs, collective, CollectiveAlgorithm::ring,
                                     members, Domains(cluster, members)));
  };
  for (const Members& members : groups) {
    const GroupPlace place = place_of_group(cluster, members);
    if (!place.crosses()) continue;
    builder.take_part(members);
    switch (kind) {
      case ExchangeKind::tensor:
      case ExchangeKind::expert_slices:
        add_ring(members, CollectiveKind::all_gather);
        break;
      case ExchangeKind::context:
        if (strategy.context_parallel_method == ContextParallelMethod::ring) {
          add_ring(members, CollectiveKind::send_receive);
        } else {
          add_exchange(builder, Domains(cluster, members), [&](int from, int to) {
            return static_cast<double>(from) * to / static_cast<double>(members.size());
          });
        }
        break;
      case ExchangeKind::tables:
        add_exchange(builder, Domains(cluster, members), [&](int from, int to) {
          return static_cast<double>(from) * to / static_cast<double>(members.size());
        });
        break;
      case ExchangeKind::experts: {
        const ExpertRouting& routing = *model.routing();
        add_exchange(builder, Domains(cluster, members), [&](int from, int to) {
          return 0.5 * (crossing_part(strategy, place, routing, from, to) +
                        crossing_part(strategy, place, routing, to, from));
        });
        break;
      }
    }
  }
  FlowPlan plan = builder.finished(Seconds(0.0));
  plan.latency = Seconds(0.0);  // the ranks' programs are charged for it
  return plan;
}

}  // namespace headway
