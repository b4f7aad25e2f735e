#include "sim/predict/collective/collective_table.h"

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/flow_plans.h"

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

/// A choice laid over the fabric.
struct Candidate {
  CollectiveChoice choice;
  FlowPlan plan;                ///< of all groups
  std::vector<FlowPlan> alone;  ///< of each group
  double bytes_factor = 1.0;

  [[nodiscard]] Bytes amount(Bytes size) const {
    return bytes_factor * choice.stretch(size) * size;
  }
  [[nodiscard]] Seconds idle(const Topology& topology, Bytes size) const {
    Seconds slowest;
    for (const FlowPlan& group : alone) {
      slowest = max(slowest, idle_time(group, topology, amount(size)));
    }
    return slowest;
  }
};

std::vector<Candidate> candidates_of(const Cluster& cluster, const CollectiveQuestion& question) {
  const CollectiveGroups groups = groups_of(question);
  const int ranks = static_cast<int>(groups.front().size());
  std::vector<Candidate> candidates;
  for (const CollectiveChoice& choice : collective_choices(cluster, question)) {
    const auto plan = [&](const CollectiveGroups& of) {
      return collective_plan(cluster, choice.costs, question.kind, choice.algorithm, of);
    };
    Candidate candidate{
        .choice = choice,
        .plan = plan(groups),
        .bytes_factor = collective_volume(question.kind, choice.algorithm, ranks).bytes_factor};
    for (const std::vector<std::int32_t>& group : groups) {
      candidate.alone.push_back(groups.size() == 1 ? candidate.plan : plan({group}));
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace

std::vector<CollectiveRow> collective_table(const Cluster& cluster,
                                            const CollectiveQuestion& question,
                                            const std::vector<Bytes>& sizes,
                                            const EngineOptions& engine, int jobs) {
  HEADWAY_CHECK(question.ranks >= 2 && question.ranks <= cluster.accelerators(),
                "a collective needs two ranks at least, and no more than there are");
  const std::vector<Candidate> candidates = candidates_of(cluster, question);
  HEADWAY_CHECK(!candidates.empty(), "the collective has no such algorithm");

  std::vector<CollectiveRow> rows;
  std::vector<Workload> workloads;
  for (const Bytes size : sizes) {
    const Candidate* best = nullptr;
    Seconds best_time;
    for (const Candidate& candidate : candidates) {
      const Seconds time = candidate.idle(cluster.topology, size);
      if (best == nullptr || time < best_time) {
        best = &candidate;
        best_time = time;
      }
    }
    rows.push_back({.size = size,
                    .algorithm = best->choice.algorithm,
                    .protocol = best->choice.protocol,
                    .closed_form = best_time});
    workloads.push_back(collective_workload(best->plan, best->amount(size), question.kind));
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
