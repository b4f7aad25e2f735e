#include "sim/predict/what_if/mitigations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "sim/jobs/smaller_job.h"
#include "sim/predict/job_run.h"
#include "sim/predict/what_if/removals.h"
#include "sim/programs/joint_workload.h"
#include "sim/programs/stage_program.h"

namespace headway {
namespace {

/// What a node that is not listed has to be slower than the typical one to be replaced.
constexpr double kNoticeablySlow = 1.05;
/// The share of the replicas that nobody waits for: Chen et al. found 4 to 6 % best (figure 8).
constexpr double kBackupShare = 0.05;
/// Steps of which one exchanges gradients: local SGD is commonly run with 4 to 16.
constexpr int kLocalSteps = 8;

/// Nodes, and their accelerators in ascending order.
struct SlowNodes {
  std::set<int> nodes;
  std::vector<std::int32_t> accelerators;
};

SlowNodes with_accelerators(std::set<int> nodes, const Cluster& cluster,
                            const std::vector<std::int32_t>& all) {
  SlowNodes slow{std::move(nodes), {}};
  std::ranges::copy_if(all, std::back_inserter(slow.accelerators), [&](std::int32_t accelerator) {
    return slow.nodes.contains(cluster.node_of(accelerator));
  });
  return slow;
}

/// Where the scenario lists accelerators as slower than most, or has a bad cable.
std::set<int> listed_nodes(const Cluster& cluster, const Perturbation& drawn,
                           const std::vector<std::int32_t>& all, const BadLinks& bad_links) {
  std::set<int> nodes;
  for (const std::int32_t accelerator : all) {
    const int node = cluster.node_of(accelerator);
    if (bad_links.nodes().contains(node)) nodes.insert(node);
  }
  const Perturbation without = without_listed_slowness(drawn, all);
  for (const auto& [accelerator, factor] : drawn.slow_accelerators) {
    if (!std::ranges::binary_search(all, accelerator)) continue;
    const bool is_slower = factor > without.slow_accelerators.at(accelerator);
    if (is_slower) nodes.insert(cluster.node_of(accelerator));
  }
  return nodes;
}

/// All that are noticeably slower than the typical accelerator.
std::set<int> noticeably_slow_nodes(const Cluster& cluster, const Perturbation& drawn,
                                    const std::vector<std::int32_t>& all) {
  std::set<int> nodes;
  const std::vector<double> factors = worst_time_factors(drawn, all);
  const double typical = typical_time_factor(drawn, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (factors[i] > kNoticeablySlow * typical) nodes.insert(cluster.node_of(all[i]));
  }
  return nodes;
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
  MitigationList(const Scenario& scenario, const Perturbation& drawn, const Workload& workload,
                 const BadLinks& bad_links)
      : scenario_(scenario),
        drawn_(drawn),
        workload_(workload),
        bad_links_(bad_links),
        all_(accelerators_of(workload)) {
    const Cluster& cluster = *scenario.cluster;
    std::set<int> listed = listed_nodes(cluster, drawn, all_, bad_links);
    std::set<int> nodes = noticeably_slow_nodes(cluster, drawn, all_);
    nodes.insert(listed.begin(), listed.end());
    listed_ = with_accelerators(std::move(listed), cluster, all_);
    slow_ = with_accelerators(std::move(nodes), cluster, all_);
  }

  void add_mended_links() {
    if (bad_links_.none()) return;
    add({.name = "mended_links",
         .title = bad_links_.names() + " mended",
         .parts = {part_of(bad_links_.all_mended())}});
  }

  /// Nodes that the scenario lists, and then those too that are slow by their draw or for a while.
  /// A spare in place of a listed one differs from others as that did, by its draw: the list
  /// removed.
  void add_spares() {
    const std::set<int>& listed = listed_.nodes;
    if (!listed.empty()) {
      add({.name = "spare_nodes",
           .title = spares_title(listed, "listed slow nodes"),
           .parts = {
               part_of(bad_links_.with_new_nodes(without_listed_slowness(drawn_, all_), listed))}});
    }
    if (!has_others()) return;
    add({.name = listed.empty() ? "spare_nodes" : "more_spare_nodes",
         .title = listed.empty()
                      ? spares_title(slow_.nodes, "slow nodes")
                      : fmt::format("{} listed and {} other slow nodes replaced by spares",
                                    listed.size(), slow_.nodes.size() - listed.size()),
         .parts = {part_of(without(slow_))}});
  }

  void add_dropped() {
    if (listed_.nodes.empty()) return add_dropped("fewer_replicas", "slow nodes", slow_);
    const std::string named = fmt::format("node {}", *listed_.nodes.begin());
    const bool is_one = listed_.nodes.size() == 1;
    if (has_others()) add_dropped("still_fewer_replicas", "slow nodes", slow_);
    add_dropped("fewer_replicas",
                !has_others() ? "slow nodes"
                : is_one      ? named
                              : "listed slow nodes",
                listed_);
  }

  void add_backups() {
    if (!holds_everything()) return;
    const int replicas = scenario_.strategy->data_parallel;
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
         .parts = {{joint_workload({&part, 1}).workload, drawn_, 1.0 / kLocalSteps,
                    kLocalSteps - 1.0}},
         .own_weight = 1.0 / kLocalSteps});
  }

  [[nodiscard]] std::vector<MitigationCase> taken() && { return std::move(cases_); }

 private:
  void add(MitigationCase one) { cases_.push_back(std::move(one)); }

  static std::string spares_title(const std::set<int>& nodes, std::string_view what) {
    return nodes.size() == 1 ? fmt::format("node {} replaced by a spare", *nodes.begin())
                             : fmt::format("{} {} replaced by spares", nodes.size(), what);
  }

  /// Replicas that stand on slow nodes are left out; good nodes of theirs take the place of slow
  /// ones elsewhere.
  void add_dropped(const char* name, std::string_view what, const SlowNodes& slow) {
    std::set<std::int32_t> replicas;
    for (const RankGroup& group : workload_.groups) {
      for (const std::int32_t accelerator : group.accelerators) {
        if (std::ranges::binary_search(slow.accelerators, accelerator)) {
          replicas.insert(group.replica);
        }
      }
    }
    const Strategy& now = *scenario_.strategy;
    const int ranks = now.ranks() / now.data_parallel;
    const int lost = static_cast<int>(slow.accelerators.size());
    // The accelerators of a parameter servers' worker are replicas, and go together.
    const int of_worker = workload_.servers.empty() ? 1 : workload_.ranks_per_group;
    const int fewer =
        std::min(of_worker * static_cast<int>(replicas.size()), (lost + ranks - 1) / ranks);
    if (fewer == 0 || fewer >= now.data_parallel) return;
    const auto smaller = with_replicas(now, now.data_parallel - fewer);
    if (!smaller) return;
    MitigationCase::Part left = part_of(without(slow), *smaller);
    if (!stands_on_good_nodes(left.workload, slow)) return;
    add({.name = name,
         .title = fmt::format("{} left out: {} replica{} on {} GPUs", what, smaller->data_parallel,
                              smaller->data_parallel == 1 ? "" : "s", smaller->ranks()),
         .parts = {std::move(left)},
         .work =
             static_cast<double>(smaller->global_batch) / static_cast<double>(now.global_batch)});
  }

  /// Whether nodes are slow that nobody lists.
  [[nodiscard]] bool has_others() const { return slow_.nodes.size() > listed_.nodes.size(); }

  /// These nodes as the typical one is, and what is plugged into them as it should be.
  [[nodiscard]] MendedLinks without(const SlowNodes& slow) const {
    Perturbation left = drawn_;
    left.repair = {.time_factor = typical_time_factor(drawn_, all_),
                   .accelerators = slow.accelerators};
    return bad_links_.with_new_nodes(std::move(left), slow.nodes);
  }

  /// The job on cables of which some are mended.
  [[nodiscard]] MitigationCase::Part part_of(MendedLinks mended) const {
    if (mended.cluster) return part_of(std::move(mended), *scenario_.strategy);
    return {.workload = workload_, .perturbation = std::move(mended.perturbation)};
  }
  [[nodiscard]] MitigationCase::Part part_of(MendedLinks mended, const Strategy& strategy) const {
    Scenario changed = scenario_;
    if (mended.cluster) changed.cluster = mended.cluster;
    return {.workload = built_job(changed, strategy).workload,
            .perturbation = std::move(mended.perturbation),
            .cluster = std::move(mended.cluster)};
  }

  /// Whether a smaller job, which stands on the first nodes, is that on what the slow ones leave:
  /// of several kinds of nodes it may be another.
  [[nodiscard]] bool stands_on_good_nodes(const Workload& smaller, const SlowNodes& slow) const {
    const auto kind = [&](std::int32_t accelerator) {
      return scenario_.cluster->kind_of(accelerator);
    };
    std::vector<std::int32_t> good;
    std::ranges::set_difference(all_, slow.accelerators, std::back_inserter(good));
    const std::vector<std::int32_t> taken = accelerators_of(smaller);
    if (good.size() < taken.size()) return false;
    good.resize(taken.size());
    return std::ranges::equal(good, taken, {}, kind, kind);
  }

  /// Each replica can go on without the others.
  [[nodiscard]] bool holds_everything() const {
    const Strategy& strategy = *scenario_.strategy;
    return workload_.servers.empty() && strategy.data_parallel > 1 &&
           strategy.sharding == Sharding::none && strategy.expert_group() == 1 &&
           !strategy.schedule->is_doubled();
  }

  const Scenario& scenario_;
  const Perturbation& drawn_;
  const Workload& workload_;
  const BadLinks& bad_links_;
  std::vector<std::int32_t> all_;  ///< accelerators of the job, ascending
  SlowNodes listed_;
  SlowNodes slow_;  ///< these, and those that are slow otherwise
  std::vector<MitigationCase> cases_;
};

}  // namespace

std::vector<MitigationCase> mitigation_cases(const Scenario& scenario, const Perturbation& drawn,
                                             const Workload& workload, const BadLinks& bad_links) {
  MitigationList cases(scenario, drawn, workload, bad_links);
  cases.add_mended_links();
  cases.add_spares();
  cases.add_dropped();
  cases.add_backups();
  cases.add_local_updates();
  return std::move(cases).taken();
}

}  // namespace headway
