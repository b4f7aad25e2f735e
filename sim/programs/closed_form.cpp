#include "sim/programs/closed_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/index.h"
#include "sim/jobs/strategy.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/perturbation/slow_replicas.h"
#include "sim/programs/recurrence.h"

namespace headway {
namespace {

/// Replicas that wait for each other in their passes, by the first of them: of those with the same
/// programs one, and of sets with the same programs the first.
std::vector<std::set<std::int32_t>> distinct_sets(const Workload& workload) {
  const std::int32_t only = workload.groups.front().replica;
  const bool is_one = std::ranges::all_of(
      workload.groups, [&](const RankGroup& group) { return group.replica == only; });
  if (is_one) return {{only}};
  std::map<std::int32_t, std::vector<std::int32_t>> programs;  // by replica, of its stages
  std::map<std::int32_t, std::int32_t> first_of;               // replica of an exchange
  std::map<std::int32_t, std::set<std::int32_t>> sets;
  for (const RankGroup& group : workload.groups) {
    programs[group.replica].push_back(group.program);
    std::int32_t first = group.replica;
    for (const std::int32_t id : group.communicators) {
      if (id < 0 || !is_exchange(at(workload.communicators, id))) continue;
      first = std::min(first, first_of.emplace(id, group.replica).first->second);
    }
    sets[first].insert(group.replica);
  }
  std::vector<std::set<std::int32_t>> distinct;
  std::set<std::set<std::vector<std::int32_t>>> known;
  for (const auto& [unused, replicas] : sets) {
    std::set<std::vector<std::int32_t>> sorts;
    std::set<std::int32_t> one_of_each;
    for (const std::int32_t replica : replicas) {
      if (sorts.insert(programs[replica]).second) one_of_each.insert(replica);
    }
    if (known.insert(std::move(sorts)).second) distinct.push_back(std::move(one_of_each));
  }
  return distinct;
}

}  // namespace

Seconds closed_form_time(const Workload& workload, const Topology& topology,
                         std::span<const double> slowdowns) {
  double slowest = 0.0;
  for (const std::set<std::int32_t>& replicas : distinct_sets(workload)) {
    slowest = std::max(slowest, Recurrence(workload, topology, slowdowns, replicas).end());
  }
  return Seconds(slowest);
}

Seconds nominal_waiting(const Workload& workload, const Topology& topology, std::int32_t group) {
  const RankGroup& of = at(workload.groups, group);
  for (const std::set<std::int32_t>& replicas : distinct_sets(workload)) {
    const Recurrence nominal(workload, topology, {}, replicas);
    if (nominal.has(of.program)) return Seconds(nominal.waiting_of(of.program));
  }
  HEADWAY_CHECK(false, "every program is of some replica");
}

Seconds closed_form_iteration(const Model& model, const Strategy& strategy,
                              const KindProfiles& profiles, const Cluster& cluster,
                              const Placement& placement, const Perturbation& perturbation,
                              KnownJobs* known) {
  const BuiltWorkload built = build_workload({model, strategy, profiles, cluster, placement,
                                              std::nullopt, WorkloadExtent::one_replica, known});
  const double drawn = median_of_slowest(perturbation.device_spread, strategy.ranks()) *
                       median_of_slowest(perturbation.jitter, built.workload.ranks_per_group);
  std::vector<StageFactors> replicas = slow_replicas(perturbation, placement);
  if (replicas.empty()) {
    replicas.emplace_back(static_cast<std::size_t>(strategy.pipeline_parallel), 1.0);
  }
  Seconds slowest;
  for (StageFactors& factors : replicas) {
    for (double& factor : factors) factor *= drawn;
    slowest = max(slowest, closed_form_time(built.workload, cluster.topology, factors));
  }
  return slowest;
}

}  // namespace headway
