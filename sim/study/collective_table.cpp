#include "sim/study/collective_table.h"

#include "sim/base/diagnostic.h"
#include "sim/workload/flow_plans.h"

namespace headway {
namespace {

/// A job of which the collective is all: one group that stands for its ranks joins it and waits.
Workload collective_workload(const FlowPlan& plan, Bytes amount, CollectiveKind kind) {
  Program program;
  program.name = "collective";
  program.collective_slots = 1;
  program.operations = {
      {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = amount},
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

CollectiveGroups groups_of(const CollectiveQuestion& question) {
  const int size = question.ranks / question.groups;
  CollectiveGroups groups(static_cast<std::size_t>(question.groups));
  for (std::int32_t rank = 0; rank < question.ranks; ++rank) {
    const int group = question.is_interleaved ? rank % question.groups : rank / size;
    groups[static_cast<std::size_t>(group)].push_back(rank);
  }
  return groups;
}

}  // namespace

std::vector<CollectiveRow> collective_table(const Cluster& cluster,
                                            const CollectiveQuestion& question, int jobs) {
  HEADWAY_CHECK(question.ranks >= 2 && question.ranks <= cluster.accelerators(),
                "a collective needs two ranks at least, and no more than there are");
  const NetworkCosts costs = question.profile != nullptr ? network_costs(*question.profile)
                                                         : ideal_network_costs(cluster.node_type);
  const CollectiveGroups groups = groups_of(question);
  const int ranks = static_cast<int>(groups.front().size());

  struct Candidate {
    CollectiveAlgorithm algorithm;
    FlowPlan plan;                ///< of all groups
    std::vector<FlowPlan> alone;  ///< of each group
    double bytes_factor;
    [[nodiscard]] Seconds idle(const Topology& topology, Bytes size) const {
      Seconds slowest;
      for (const FlowPlan& group : alone) {
        slowest = max(slowest, idle_time(group, topology, bytes_factor * size));
      }
      return slowest;
    }
  };
  std::vector<Candidate> candidates;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::in_network}) {
    // Only some switches can add, so nobody gets that without asking for it.
    const bool is_wanted = question.algorithm ? *question.algorithm == algorithm
                                              : algorithm != CollectiveAlgorithm::in_network;
    if (!is_wanted) continue;
    if (!has_algorithm(question.kind, algorithm)) continue;
    Candidate candidate{
        .algorithm = algorithm,
        .plan = collective_plan(cluster, costs, question.kind, algorithm, groups),
        .bytes_factor = collective_volume(question.kind, algorithm, ranks).bytes_factor};
    for (const std::vector<std::int32_t>& group : groups) {
      candidate.alone.push_back(
          groups.size() == 1 ? candidate.plan
                             : collective_plan(cluster, costs, question.kind, algorithm, {group}));
    }
    candidates.push_back(std::move(candidate));
  }
  HEADWAY_CHECK(!candidates.empty(), "the collective has no such algorithm");

  std::vector<CollectiveRow> rows;
  std::vector<Workload> workloads;
  for (const Bytes size : question.sizes) {
    const Candidate* best = nullptr;
    Seconds best_time;
    for (const Candidate& candidate : candidates) {
      const Seconds time = candidate.idle(cluster.topology, size);
      if (best == nullptr || time < best_time) {
        best = &candidate;
        best_time = time;
      }
    }
    rows.push_back({.size = size, .algorithm = best->algorithm, .closed_form = best_time});
    workloads.push_back(collective_workload(best->plan, best->bytes_factor * size, question.kind));
  }
  std::vector<SimulationTask> tasks;
  for (const Workload& workload : workloads) {
    tasks.push_back({&workload, &cluster.topology, Perturbation{}});
  }
  const std::vector<Timeline> timelines = simulate_workloads(tasks, question.engine, jobs);
  const double bus_factor = bus_bandwidth_factor(question.kind, ranks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].time = Seconds(timelines[i].finish);
    rows[i].algorithm_bandwidth = rows[i].size / rows[i].time;
    rows[i].bus_bandwidth = bus_factor * rows[i].algorithm_bandwidth;
  }
  return rows;
}

}  // namespace headway
