#include "sim/predict/what_if/what_if.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/predict/input/input_use.h"
#include "sim/predict/what_if/bad_links.h"
#include "sim/predict/what_if/mitigations.h"
#include "sim/predict/what_if/network_extremes.h"
#include "sim/predict/what_if/removals.h"
#include "sim/predict/what_if/sensitivities.h"

namespace headway {
namespace {

/// How many of each kind of place are tried, the slowest first.
constexpr int kMostPlaces = 5;
constexpr int kMostPlacesOfStragglers = 1;
/// The least share of the iteration that is worth telling: what gains less is rounding, or nobody's
/// business.
constexpr double kLeastGain = 1e-4;

/// Runs that are gathered first and then simulated together.
class Runs {
 public:
  explicit Runs(const JobRun& now) : now_(now) {}

  /// Adds a run of the workload as it is. Returns the run's number.
  std::size_t add(const Scenario& scenario, const Perturbation& perturbation) {
    tasks_.push_back({&now_.workload, &scenario.cluster->topology, perturbation});
    return tasks_.size() - 1;
  }
  /// Adds one of another job; its scenario is kept as long as the runs.
  std::size_t add_built(Scenario scenario, const Perturbation& perturbation) {
    Scenario& kept = scenarios_.emplace_back(std::move(scenario));
    const Workload& workload = workloads_.emplace_back(built_job(kept, *kept.strategy).workload);
    tasks_.push_back({&workload, &kept.cluster->topology, perturbation});
    return tasks_.size() - 1;
  }
  /// Adds one of another workload on a fabric, both of which outlive the runs.
  std::size_t add(const Cluster& cluster, const Workload& workload,
                  const Perturbation& perturbation) {
    tasks_.push_back({&workload, &cluster.topology, perturbation});
    return tasks_.size() - 1;
  }
  [[nodiscard]] std::size_t count() const { return tasks_.size(); }
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
    if (scenario.input) use_ = input_use(scenario, *scenario.strategy, iteration, jobs);
  }

  /// The time of a step with `work` times as many samples as the job's.
  [[nodiscard]] Seconds step(Seconds iteration, double work = 1.0) const {
    if (!use_) return iteration;
    const InputSettings& settings = *scenario_.input;
    if (meets_others(settings)) {
      InputUse use = *use_;
      use.stalled *= work;
      return step_of_other(settings, use, work * iteration_, iteration);
    }
    Strategy strategy = *scenario_.strategy;
    strategy.global_batch = std::llround(work * static_cast<double>(scenario_.samples_of_step()));
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
  return iteration + input_use(scenario, *scenario.strategy, iteration, jobs).stalled;
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

/// The median draw of the scenario, of which one thing after another is changed.
struct Asked {
  const Scenario& scenario;
  const JobRun& run;
  Perturbation drawn;
  bool is_everything = false;
};

/// Runs without slowness, by their numbers: of single sources, and of all.
struct RemovalRuns {
  struct One {
    RemovalKind kind;
    std::string what;
    std::size_t run;
  };
  std::vector<One> sources;
  std::size_t ideal = 0;
};

RemovalRuns removal_runs(const Asked& asked, const BadLinks& bad_links, Runs& runs) {
  const Scenario& scenario = asked.scenario;
  RemovalRuns found;
  const auto run_on = [&](const std::shared_ptr<const Cluster>& cluster,
                          const Perturbation& without) {
    if (!cluster) return runs.add(scenario, without);
    Scenario changed = scenario;
    changed.cluster = cluster;
    return runs.add_built(std::move(changed), without);
  };
  // A node, a rank group and a replica may be the same accelerators: one run tells of all that
  // have the same cables.
  std::map<std::tuple<std::vector<std::int32_t>, std::size_t, const Cluster*>, std::size_t>
      run_of_place;
  for (RemovalCase& one :
       removal_cases(asked.drawn, asked.run.workload, *scenario.cluster, bad_links,
                     asked.is_everything ? kMostPlaces : kMostPlacesOfStragglers)) {
    const std::vector<std::int32_t>& place = one.without.repair.accelerators;
    const std::tuple key(place, one.without.link_episodes.size(), one.cluster.get());
    const auto known = run_of_place.find(key);
    const bool is_known = !place.empty() && known != run_of_place.end();
    const std::size_t index = is_known ? known->second : run_on(one.cluster, one.without);
    run_of_place.emplace(key, index);
    found.sources.push_back({one.kind, std::move(one.what), index});
  }
  const Perturbation ideal_ranks = ideal_perturbation(asked.drawn, asked.run.workload);
  found.ideal = runs.add(scenario, ideal_ranks);
  if (bad_links.has_faults()) {
    const std::shared_ptr<const Cluster> sound = bad_links.all_mended().cluster;
    found.sources.push_back(
        {RemovalKind::cause, "faults of the fabric", run_on(sound, asked.drawn)});
    found.ideal = run_on(sound, ideal_ranks);
  }
  return found;
}

/// Those that gain something.
std::vector<Removal> removals_of(RemovalRuns asked, const std::vector<Seconds>& times,
                                 const Waiting& waiting, Seconds now) {
  std::vector<Removal> removals;
  for (RemovalRuns::One& one : asked.sources) {
    const Seconds without = waiting.step(times[one.run]);
    const Seconds gain = now - without;
    if (gain <= kLeastGain * now) continue;
    removals.push_back({one.kind, std::move(one.what), without, gain});
  }
  std::ranges::stable_sort(removals, [](const Removal& a, const Removal& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.gain > b.gain;
  });
  return removals;
}

struct ImprovedRun {
  const SensitivityCase& one;
  Scenario scenario;
  std::size_t run;
};

std::vector<ImprovedRun> improved_runs(const Asked& asked, Runs& runs) {
  std::vector<ImprovedRun> improved;
  if (!asked.is_everything) return improved;
  for (const SensitivityCase& one : sensitivity_cases()) {
    if (one.goes_with != nullptr && !one.goes_with(asked.scenario)) continue;
    Scenario changed = one.changed(asked.scenario);
    const std::size_t run = runs.add_built(changed, asked.drawn);
    improved.push_back({one, std::move(changed), run});
  }
  return improved;
}

/// `now` and `ideal` are steps, `times` iterations by themselves.
std::vector<Sensitivity> sensitivities_of(const Asked& asked,
                                          const std::vector<ImprovedRun>& improved,
                                          const std::vector<Seconds>& times, Seconds now,
                                          Seconds ideal, int jobs) {
  const auto batch = static_cast<double>(asked.scenario.samples_of_step());
  std::vector<Sensitivity> sensitivities;
  const auto add = [&](std::string_view name, std::string_view title, Seconds step,
                       const Strategy& strategy) {
    const double work = static_cast<double>(strategy.global_batch) / batch;
    sensitivities.push_back({.name = std::string(name),
                             .title = std::string(title),
                             .iteration_time = step,
                             .speedup = work * (now / step)});
  };
  if (asked.is_everything) add("no_stragglers", "no stragglers", ideal, *asked.scenario.strategy);
  // Samples may come over what is improved: each of these waits for its own.
  for (const auto& [one, changed, run] : improved) {
    add(one.name, one.title, step_of(changed, times[run], jobs), *changed.strategy);
  }
  std::ranges::stable_sort(sensitivities, std::greater<>(), &Sensitivity::speedup);
  return sensitivities;
}

/// `first_run` is that of the first part of the first case; those of the others follow in order.
std::vector<Sensitivity> mitigations_of(const std::vector<MitigationCase>& cases,
                                        std::size_t first_run, const std::vector<Seconds>& times,
                                        const Waiting& waiting, Seconds now) {
  std::vector<Sensitivity> mitigations;
  std::size_t run = first_run;
  for (const MitigationCase& one : cases) {
    Seconds step = one.own_weight * now;
    for (const MitigationCase::Part& part : one.parts) {
      step += part.weight * waiting.step(times[run++], one.work * part.iterations);
    }
    mitigations.push_back({.name = one.name,
                           .title = one.title,
                           .iteration_time = step,
                           .speedup = one.work * (now / step)});
  }
  std::ranges::stable_sort(mitigations, std::greater<>(), &Sensitivity::speedup);
  return mitigations;
}

}  // namespace

WhatIf what_if(const Scenario& scenario, const JobRun& run, int jobs, WhatIfExtent extent) {
  Asked asked{.scenario = scenario,
              .run = run,
              .drawn = scenario.perturbation,
              .is_everything = extent == WhatIfExtent::everything};
  asked.drawn.seed += run.median;
  const Waiting waiting(scenario, run.time(), jobs);
  WhatIf result;
  result.time = waiting.step(run.time());
  result.accelerators = scenario.accelerators();
  set_stage_imbalance(result, run.workload);

  Runs runs(run);
  const BadLinks bad_links(scenario, asked.drawn);
  RemovalRuns without = removal_runs(asked, bad_links, runs);
  const std::vector<ImprovedRun> improved = improved_runs(asked, runs);
  const std::vector<MitigationCase> mitigations =
      mitigation_cases(scenario, asked.drawn, run.workload, bad_links);
  const std::size_t first_mitigation = runs.count();
  for (const MitigationCase& one : mitigations) {
    for (const MitigationCase::Part& part : one.parts) {
      runs.add(part.cluster ? *part.cluster : *scenario.cluster, part.workload, part.perturbation);
    }
  }

  std::vector<Seconds> times;  // of iterations by themselves
  for (const double time : runs.times(scenario.run.engine, jobs)) times.emplace_back(time);
  result.ideal = waiting.step(times[without.ideal]);
  result.removals = removals_of(std::move(without), times, waiting, result.time);
  result.sensitivities = sensitivities_of(asked, improved, times, result.time, result.ideal, jobs);
  result.mitigations = mitigations_of(mitigations, first_mitigation, times, waiting, result.time);
  if (asked.is_everything) result.network_extremes = network_extremes(scenario, run, jobs);
  for (Sensitivity& extreme : result.network_extremes) {
    extreme.iteration_time = waiting.step(extreme.iteration_time);
    extreme.speedup = result.time / extreme.iteration_time;
  }
  return result;
}

}  // namespace headway
