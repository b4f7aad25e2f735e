#include "sim/predict/what_if/what_if.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/predict/input/input_use.h"
#include "sim/predict/what_if/changed_topology.h"
#include "sim/predict/what_if/mitigations.h"
#include "sim/predict/what_if/network_extremes.h"
#include "sim/predict/what_if/removals.h"
#include "sim/predict/what_if/sensitivities.h"

namespace headway {
namespace {

/// Of each kind of place, the slowest.
constexpr int kMostPlaces = 5;
constexpr int kMostPlacesOfStragglers = 1;
/// Of the iteration: what gains less is rounding, or nobody's business.
constexpr double kLeastGain = 1e-4;

/// The cluster with every cable, switch and NIC in order; nullptr if they are.
std::shared_ptr<const Cluster> cluster_without_faults(const Scenario& scenario) {
  const nlohmann::json& topology = scenario.resolved->at("cluster").at("topology");
  if (!topology.contains("faults") || topology.at("faults").empty()) return nullptr;
  return cluster_with(scenario, [](nlohmann::json& changed) { changed.erase("faults"); });
}

/// Runs that are gathered first and then simulated together.
class Runs {
 public:
  explicit Runs(const JobRun& now) : now_(now) {}

  /// Of the workload as it is. Returns the run's number.
  std::size_t add(const Scenario& scenario, const Perturbation& perturbation) {
    tasks_.push_back({&now_.workload, &scenario.cluster->topology, perturbation});
    return tasks_.size() - 1;
  }
  /// Of another job; its scenario is kept as long as the runs.
  std::size_t add_built(Scenario scenario, const Perturbation& perturbation) {
    Scenario& kept = scenarios_.emplace_back(std::move(scenario));
    const Workload& workload = workloads_.emplace_back(built_job(kept, kept.strategy).workload);
    tasks_.push_back({&workload, &kept.cluster->topology, perturbation});
    return tasks_.size() - 1;
  }
  /// Of another workload on the same fabric, which outlives the runs.
  std::size_t add(const Scenario& scenario, const Workload& workload,
                  const Perturbation& perturbation) {
    tasks_.push_back({&workload, &scenario.cluster->topology, perturbation});
    return tasks_.size() - 1;
  }
  [[nodiscard]] std::vector<double> times(const EngineOptions& options, int jobs) const {
    return simulated_times(tasks_, options, jobs);
  }

 private:
  const JobRun& now_;
  std::deque<Scenario> scenarios_;
  std::deque<Workload> workloads_;
  std::vector<SimulationTask> tasks_;
};

/// Iterations with what they wait for their samples, if the scenario tells of these.
class Waiting {
 public:
  Waiting(const Scenario& scenario, Seconds iteration, int jobs)
      : scenario_(scenario), iteration_(iteration) {
    if (scenario.input) use_ = input_use(scenario, scenario.strategy, iteration, jobs);
  }

  /// Of one with `work` times as many samples as the job's.
  [[nodiscard]] Seconds step(Seconds iteration, double work = 1.0) const {
    if (!use_) return iteration;
    const InputSettings& settings = *scenario_.input;
    if (meets_others(settings)) {
      InputUse use = *use_;
      use.stalled *= work;
      return step_of_other(settings, use, work * iteration_, iteration);
    }
    Strategy strategy = scenario_.strategy;
    strategy.global_batch =
        std::llround(work * static_cast<double>(scenario_.strategy.global_batch));
    return iteration + input_use(settings, strategy, *scenario_.cluster, iteration).stalled;
  }

 private:
  const Scenario& scenario_;
  Seconds iteration_;
  std::optional<InputUse> use_;
};

/// A step of a scenario whose iteration takes this by itself, with what it waits for its samples.
Seconds step_of(const Scenario& scenario, Seconds iteration, int jobs) {
  if (!scenario.input) return iteration;
  return iteration + input_use(scenario, scenario.strategy, iteration, jobs).stalled;
}

/// What stages have to do at nominal speed: how much more the slowest has than all on average.
void set_stage_imbalance(WhatIf& result, const Workload& workload) {
  std::vector<double> work;
  for (const Program& program : workload.programs) work.push_back(program.nominal_work().count());
  const auto slowest = std::ranges::max_element(work);
  const double mean =
      std::accumulate(work.begin(), work.end(), 0.0) / static_cast<double>(work.size());
  result.slowest_stage = static_cast<int>(slowest - work.begin());
  result.stage_imbalance = mean > 0.0 ? *slowest / mean : 1.0;
}

}  // namespace

WhatIf what_if(const Scenario& scenario, const JobRun& run, int jobs, WhatIfExtent extent) {
  const bool is_everything = extent == WhatIfExtent::everything;
  Perturbation drawn = scenario.perturbation;
  drawn.seed += run.median;
  const Waiting waiting(scenario, run.time(), jobs);
  WhatIf result;
  result.time = waiting.step(run.time());
  result.accelerators = scenario.strategy.ranks();
  set_stage_imbalance(result, run.workload);

  Runs runs(run);
  struct Removed {
    RemovalKind kind;
    std::string what;
    std::size_t run;
  };
  std::vector<Removed> removed;
  // A node, a rank group and a replica may be the same accelerators: one run tells of all.
  std::map<std::vector<std::int32_t>, std::size_t> run_of_place;
  for (RemovalCase& one : removal_cases(drawn, run.workload, *scenario.cluster,
                                        is_everything ? kMostPlaces : kMostPlacesOfStragglers)) {
    const std::vector<std::int32_t>& place = one.without.repair.accelerators;
    const auto known = run_of_place.find(place);
    const bool is_known = !place.empty() && known != run_of_place.end();
    const std::size_t index = is_known ? known->second : runs.add(scenario, one.without);
    run_of_place.emplace(place, index);
    removed.push_back({one.kind, std::move(one.what), index});
  }
  const Perturbation ideal_ranks = ideal_perturbation(drawn, run.workload);
  std::size_t ideal = runs.add(scenario, ideal_ranks);
  if (auto sound = cluster_without_faults(scenario)) {
    Scenario repaired = scenario;
    repaired.cluster = std::move(sound);
    removed.push_back(
        {RemovalKind::cause, "faults of the fabric", runs.add_built(repaired, drawn)});
    ideal = runs.add_built(std::move(repaired), ideal_ranks);
  }
  struct Improved {
    const SensitivityCase& one;
    Scenario scenario;
    std::size_t run;
  };
  std::vector<Improved> improved;
  for (const SensitivityCase& one : sensitivity_cases()) {
    if (!is_everything || (one.goes_with != nullptr && !one.goes_with(scenario))) continue;
    Scenario changed = one.changed(scenario);
    const std::size_t run_of_it = runs.add_built(changed, drawn);
    improved.push_back({one, std::move(changed), run_of_it});
  }

  const std::vector<MitigationCase> mitigations = mitigation_cases(scenario, drawn, run.workload);
  std::vector<std::size_t> of_mitigations;
  for (const MitigationCase& one : mitigations) {
    for (const MitigationCase::Part& part : one.parts) {
      of_mitigations.push_back(runs.add(scenario, part.workload, part.perturbation));
    }
  }

  std::vector<Seconds> times;  // of iterations by themselves
  for (const double time : runs.times(scenario.run.engine, jobs)) times.emplace_back(time);
  result.ideal = waiting.step(times[ideal]);
  for (Removed& one : removed) {
    const Seconds without = waiting.step(times[one.run]);
    const Seconds gain = result.time - without;
    if (gain <= kLeastGain * result.time) continue;
    result.removals.push_back({one.kind, std::move(one.what), without, gain});
  }
  std::ranges::stable_sort(result.removals, [](const Removal& a, const Removal& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.gain > b.gain;
  });

  const double batch = static_cast<double>(scenario.strategy.global_batch);
  const auto add = [&](std::string_view name, std::string_view title, Seconds time,
                       const Strategy& strategy) {
    const double work = static_cast<double>(strategy.global_batch) / batch;
    result.sensitivities.push_back({.name = std::string(name),
                                    .title = std::string(title),
                                    .iteration_time = time,
                                    .speedup = work * (result.time / time)});
  };
  if (is_everything) add("no_stragglers", "no stragglers", result.ideal, scenario.strategy);
  // Samples may come over what is improved: each of these waits for its own.
  for (const auto& [one, changed, index] : improved) {
    add(one.name, one.title, step_of(changed, times[index], jobs), changed.strategy);
  }
  std::ranges::stable_sort(result.sensitivities, std::greater<>(), &Sensitivity::speedup);

  auto next = of_mitigations.begin();
  for (const MitigationCase& one : mitigations) {
    Seconds time = one.own_weight * result.time;
    for (const MitigationCase::Part& part : one.parts) {
      time += part.weight * waiting.step(times[*next++], one.work * part.iterations);
    }
    result.mitigations.push_back({.name = one.name,
                                  .title = one.title,
                                  .iteration_time = time,
                                  .speedup = one.work * (result.time / time)});
  }
  std::ranges::stable_sort(result.mitigations, std::greater<>(), &Sensitivity::speedup);
  if (is_everything) result.network_extremes = network_extremes(scenario, run, jobs);
  for (Sensitivity& extreme : result.network_extremes) {
    extreme.iteration_time = waiting.step(extreme.iteration_time);
    extreme.speedup = result.time / extreme.iteration_time;
  }
  return result;
}

}  // namespace headway
