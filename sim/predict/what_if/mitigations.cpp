#include "sim/predict/what_if/mitigations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/predict/job_run.h"
#include "sim/predict/what_if/removals.h"
#include "sim/programs/joint_workload.h"
#include "sim/programs/stage_program.h"
#include "sim/scenario/smaller_job.h"

namespace headway {
namespace {

/// What a node has to be slower than the typical one to be replaced.
constexpr double kNoticeablySlow = 1.05;
constexpr std::size_t kMostReplaced = 8;
/// Of the replicas nobody waits for these: Chen et al. found 4 to 6 % best (figure 8).
constexpr double kBackupShare = 0.05;
/// Steps of which one exchanges gradients: local SGD is commonly run with 4 to 16.
constexpr int kLocalSteps = 8;

/// The slowest nodes, and their accelerators in ascending order.
struct SlowNodes {
  std::vector<int> nodes;
  std::vector<std::int32_t> accelerators;
  double typical = 1.0;
};

SlowNodes slow_nodes(const Cluster& cluster, const Perturbation& drawn, const Workload& workload) {
  SlowNodes found;
  const std::vector<std::int32_t> all = accelerators_of(workload);
  const std::vector<double> factors = worst_time_factors(drawn, all);
  found.typical = typical_time_factor(drawn, all);
  std::map<int, double> slowest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double& of_node = slowest[cluster.node_of(all[i])];
    of_node = std::max(of_node, factors[i]);
  }
  std::vector<std::pair<double, int>> slow;
  for (const auto& [node, factor] : slowest) {
    if (factor > kNoticeablySlow * found.typical) slow.emplace_back(-factor, node);
  }
  std::ranges::sort(slow);
  if (slow.size() > kMostReplaced) slow.resize(kMostReplaced);
  for (const auto& [unused, node] : slow) found.nodes.push_back(node);
  std::ranges::sort(found.nodes);
  for (const std::int32_t accelerator : all) {
    if (std::ranges::binary_search(found.nodes, cluster.node_of(accelerator))) {
      found.accelerators.push_back(accelerator);
    }
  }
  return found;
}

/// The gradient reductions of the replicas.
std::set<std::int32_t> gradient_reductions(const Workload& workload) {
  std::set<std::int32_t> reductions;
  for (const RankGroup& group : workload.groups) {
    const std::int32_t place =
        workload.programs[static_cast<std::size_t>(group.program)].place_of(kGradientReduce);
    if (place >= 0) reductions.insert(group.communicators[static_cast<std::size_t>(place)]);
  }
  return reductions;
}

Workload without_waiting(Workload workload, int backups) {
  for (const std::int32_t id : gradient_reductions(workload)) {
    workload.communicators[static_cast<std::size_t>(id)].backups = backups;
  }
  workload.backup_replicas = backups;
  return workload;
}

/// The iteration without any exchange of gradients.
Workload local_step(Workload workload) {
  for (Program& program : workload.programs) {
    std::set<std::int32_t> slots;
    const std::int32_t reduce = program.place_of(kGradientReduce);
    for (const Operation& operation : program.operations) {
      if (operation.kind == OperationKind::join && operation.path == reduce) {
        slots.insert(operation.slot);
      }
    }
    std::erase_if(program.operations, [&](const Operation& operation) {
      const bool is_collective =
          operation.kind == OperationKind::join || operation.kind == OperationKind::wait;
      return is_collective && slots.contains(operation.slot);
    });
  }
  return workload;
}

class MitigationList {
 public:
  MitigationList(const Scenario& scenario, const Perturbation& drawn, const Workload& workload)
      : scenario_(scenario),
        drawn_(drawn),
        workload_(workload),
        slow_(slow_nodes(*scenario.cluster, drawn, workload)) {}

  void add_spares() {
    if (slow_.nodes.empty()) return;
    const bool is_one = slow_.nodes.size() == 1;
    add({.name = "spare_nodes",
         .title = is_one ? fmt::format("node {} replaced by a spare", slow_.nodes.front())
                         : fmt::format("{} slow nodes replaced by spares", slow_.nodes.size()),
         .parts = {{workload_, without_the_slow()}}});
  }

  /// Replicas that stand on slow nodes are left out; good nodes of theirs take the place of slow
  /// ones elsewhere.
  void add_dropped() {
    std::set<std::int32_t> replicas;
    for (const RankGroup& group : workload_.groups) {
      for (const std::int32_t accelerator : group.accelerators) {
        if (std::ranges::binary_search(slow_.accelerators, accelerator)) {
          replicas.insert(group.replica);
        }
      }
    }
    const Strategy& now = scenario_.strategy;
    const int ranks = now.ranks() / now.data_parallel;
    const int lost = static_cast<int>(slow_.accelerators.size());
    const int fewer = std::min(static_cast<int>(replicas.size()), (lost + ranks - 1) / ranks);
    if (fewer == 0 || fewer >= now.data_parallel) return;
    const auto smaller = with_replicas(now, now.data_parallel - fewer);
    if (!smaller) return;
    add({.name = "fewer_replicas",
         .title =
             fmt::format("slow nodes left out: {} replica{} on {} GPUs", smaller->data_parallel,
                         smaller->data_parallel == 1 ? "" : "s", smaller->ranks()),
         .parts = {{built_job(scenario_, *smaller).workload, without_the_slow()}},
         .work =
             static_cast<double>(smaller->global_batch) / static_cast<double>(now.global_batch)});
  }

  void add_backups() {
    if (!holds_everything()) return;
    const int replicas = scenario_.strategy.data_parallel;
    const int backups = std::max(1, static_cast<int>(std::round(kBackupShare * replicas)));
    const int awaited = replicas - backups;
    add({.name = "backup_replicas",
         .title = fmt::format("not waiting for the last {} of {} replicas", backups, replicas),
         .parts = {{without_waiting(workload_, backups), drawn_}},
         .work = static_cast<double>(awaited) / replicas});
  }

  void add_local_updates() {
    if (!holds_everything()) return;
    const Workload local = local_step(workload_);
    const JointPart part{&local, kLocalSteps - 1};
    add({.name = "local_updates",
         .title = fmt::format("gradients exchanged every {} steps", kLocalSteps),
         .parts = {{joint_workload({&part, 1}).workload, drawn_, 1.0 / kLocalSteps}},
         .own_weight = 1.0 / kLocalSteps});
  }

  [[nodiscard]] std::vector<MitigationCase> taken() && { return std::move(cases_); }

 private:
  void add(MitigationCase one) { cases_.push_back(std::move(one)); }

  [[nodiscard]] Perturbation without_the_slow() const {
    Perturbation without = drawn_;
    without.repair = {.time_factor = slow_.typical, .accelerators = slow_.accelerators};
    return without;
  }

  /// Each replica can go on without the others.
  [[nodiscard]] bool holds_everything() const {
    const Strategy& strategy = scenario_.strategy;
    return workload_.servers.empty() && strategy.data_parallel > 1 &&
           strategy.sharding == Sharding::none && strategy.expert_group() == 1 &&
           !strategy.schedule->is_doubled();
  }

  const Scenario& scenario_;
  const Perturbation& drawn_;
  const Workload& workload_;
  SlowNodes slow_;
  std::vector<MitigationCase> cases_;
};

}  // namespace

std::vector<MitigationCase> mitigation_cases(const Scenario& scenario, const Perturbation& drawn,
                                             const Workload& workload) {
  MitigationList cases(scenario, drawn, workload);
  cases.add_spares();
  cases.add_dropped();
  cases.add_backups();
  cases.add_local_updates();
  return std::move(cases).taken();
}

}  // namespace headway
