#include "sim/predict/collective/collective_table.h"

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {
namespace {

/// A job of which the collective is all: one group that stands for its ranks joins it and waits.
Workload collective_workload(const FlowPlan& plan, const CollectivePrice& price,
                             CollectiveKind kind) {
  Program program;
  program.name = "collective";
  program.collective_slots = 1;
  program.operations = {
      {.kind = OperationKind::join,
       .path = 0,
       .slot = 0,
       .amount = price.amount,
       .at_least = price.at_least},
      {.kind = OperationKind::wait, .slot = 0},
  };
  Workload workload;
  workload.programs.push_back(std::move(program));
  workload.plans.push_back(plan);
  workload.communicators.push_back(
      {.name = std::string(collective_name(kind)), .kind = kind, .members = 1, .plan = 0});
  workload.groups.push_back({.accelerators = {0}, .communicators = {0}});
  return workload;
}

}  // namespace

CollectiveGroups groups_of(const CollectiveQuestion& question) {
  const int size = question.ranks / question.groups;
  CollectiveGroups groups(static_cast<std::size_t>(question.groups));
  for (std::int32_t rank = 0; rank < question.ranks; ++rank) {
    const int group = question.is_interleaved ? rank % question.groups : rank / size;
    groups[static_cast<std::size_t>(group)].push_back(rank);
  }
  return groups;
}

std::vector<CollectiveRow> collective_table(const Cluster& cluster,
                                            const CollectiveQuestion& question,
                                            const std::vector<Bytes>& sizes,
                                            const EngineOptions& engine, int jobs) {
  HEADWAY_CHECK(question.ranks >= 2 && question.ranks <= cluster.accelerators(),
                "a collective needs two ranks at least, and no more than there are");
  const CollectiveGroups groups = groups_of(question);
  const auto priced = [&](const CollectiveGroups& of) {
    return PricedCollective(cluster, question.evidence, question.kind, of, question.algorithm);
  };
  const PricedCollective together = priced(groups);
  HEADWAY_CHECK(!together.ways().empty(), "the collective has no such algorithm");
  std::vector<PricedCollective> alone;
  for (std::size_t g = 0; g < groups.size() && groups.size() > 1; ++g) {
    alone.push_back(priced({groups[g]}));
  }

  const bool is_by_nccl = question.evidence.library == CollectiveLibrary::nccl;
  const TransportKind transport = cluster.node_type.transport.kind;
  std::vector<CollectiveRow> rows;
  std::vector<Workload> workloads;
  for (const Bytes size : sizes) {
    const CollectivePrice price = together.price(size);
    const PricedCollective::Way& way = together.ways()[price.way];
    Seconds closed_form = alone.empty() ? price.time : Seconds(0.0);
    for (const PricedCollective& group : alone) {
      closed_form = max(closed_form, group.price(size).time);
    }
    rows.push_back({.size = size,
                    .algorithm = way.algorithm,
                    .protocol = std::string(way.protocol),
                    .closed_form = closed_form,
                    .doubt = is_by_nccl && way.plan.crosses_fabric
                                 ? nccl_doubt(transport, question.kind, size)
                                 : nullptr});
    workloads.push_back(collective_workload(way.plan, price, question.kind));
  }
  std::vector<SimulationTask> tasks;
  for (const Workload& workload : workloads) {
    tasks.push_back({&workload, &cluster.topology, Perturbation{}});
  }
  const std::vector<double> times = simulated_times(tasks, engine, jobs);
  const double bus_factor = bus_bandwidth_factor(question.kind, question.ranks / question.groups);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].time = Seconds(times[i]);
    rows[i].algorithm_bandwidth = rows[i].size / rows[i].time;
    rows[i].bus_bandwidth = bus_factor * rows[i].algorithm_bandwidth;
  }
  return rows;
}

}  // namespace headway
