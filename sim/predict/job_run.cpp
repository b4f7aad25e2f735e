#include "sim/predict/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/refuse.h"
#include "sim/jobs/smaller_job.h"
#include "sim/predict/interval.h"
#include "sim/predict/physical_bound.h"

namespace headway {
namespace {

/// Stretches what software decides: neither the network nor the order of passes.
void scale_software(Workload& workload, double factor) {
  for (Program& program : workload.programs) {
    for (Block& block : program.blocks) {
      for (const Cause cause : {Cause::compute, Cause::recompute, Cause::optimizer, Cause::other}) {
        block.time[cause] *= factor;
      }
    }
  }
}

/// Blocks are followed from pause to pause: what would take minutes, or for ever, is refused.
void check_pauses(const Perturbation& perturbation, const Workload& workload) {
  if (perturbation.pauses.empty()) return;
  constexpr double kMostPauses = 1e8;
  std::vector<double> work;  // of a rank, by program
  for (const Program& program : workload.programs) work.push_back(program.nominal_work().count());
  double of_all = 0.0;
  for (const RankGroup& group : workload.groups) {
    const double share = working_share(perturbation, group.accelerators);
    if (share == 0.0) {
      Diagnostic problem;
      problem.message = fmt::format(
          "{} accelerators that wait for each other never work all at once: one of them pauses at "
          "any moment",
          group.accelerators.size());
      problem.pointer = "/perturbations/pauses";
      problem.help = "make pauses shorter or rarer, or let all pause \"together\"";
      throw InputError(std::move(problem));
    }
    of_all += work[static_cast<std::size_t>(group.program)] / share *
              static_cast<double>(group.accelerators.size());
  }
  for (std::size_t i = 0; i < perturbation.pauses.size(); ++i) {
    const double every = perturbation.pauses[i].every;
    if (of_all / every <= kMostPauses) continue;
    Diagnostic problem;
    problem.message = fmt::format(
        "the pauses are too many to be followed: about {:.1g} in an iteration of all accelerators",
        of_all / every);
    problem.pointer = fmt::format("/perturbations/pauses/{}/every", i);
    problem.help =
        "make them rarer and longer in proportion, or a time factor of slow_accelerators";
    throw InputError(std::move(problem));
  }
}

/// Numbers far from what exists pass every check of their own, and end in times that are none.
void check_length(const std::vector<double>& times) {
  constexpr double kLongest = 1e12;  // 30,000 years
  if (std::ranges::all_of(times, [](double time) { return time <= kLongest; })) return;
  refuse(
      "an iteration would take more than 30,000 years",
      "some rate is far too small or some size far too large, in the scenario, the topology or the "
      "profile: `headway check --resolve` shows all that counts");
}

/// A few timelines are kept until the median is known; of many the median is simulated again, which
/// is cheaper than sending and holding gigabytes of them.
constexpr int kMostKept = 8;

/// `elsewhere` tells how long all of them are, if there is somebody else to do them.
void simulate_replicas(JobRun& run, std::vector<SimulationTask> tasks, const EngineOptions& options,
                       int jobs, const std::function<std::vector<double>()>& elsewhere,
                       std::optional<double> first_draw) {
  if (elsewhere || std::ssize(tasks) > kMostKept) {
    run.times = elsewhere ? elsewhere() : simulated_times(tasks, options, jobs);
    run.median = median_index(run.times);
    run.timeline = std::move(simulate_workloads({tasks[run.median]}, options, 1).front());
    return;
  }
  const SimulationTask first = tasks.front();
  const bool knows_first = first_draw && tasks.size() > 1;
  if (knows_first) tasks.erase(tasks.begin());
  std::vector<Timeline> timelines = simulate_workloads(tasks, options, jobs);
  if (knows_first) run.times.push_back(*first_draw);
  for (const Timeline& timeline : timelines) run.times.push_back(timeline.finish);
  run.median = median_index(run.times);
  if (knows_first && run.median == 0) {
    run.timeline = std::move(simulate_workloads({first}, options, 1).front());
  } else {
    run.timeline = std::move(timelines[run.median - (knows_first ? 1 : 0)]);
  }
}

Perturbation perturbation_of_draw(const Scenario& scenario, int number) {
  Perturbation perturbation = scenario.perturbation;
  perturbation.seed += static_cast<std::uint64_t>(number);
  return perturbation;
}

struct Draws {
  std::vector<SimulationTask> tasks;
  std::function<std::vector<double>()> elsewhere;  ///< how long they are; empty if done here
};

Draws draws_of(const Scenario& scenario, const Strategy& strategy, const Workload& workload,
               int replicas, const DrawsElsewhere& elsewhere) {
  // Without anything random all replicas are one.
  const int count = scenario.perturbation.random() ? replicas : 1;
  Draws draws;
  std::vector<DrawOfJob> numbers;
  for (int i = 0; i < count; ++i) {
    Perturbation perturbation = perturbation_of_draw(scenario, i);
    check_pauses(perturbation, workload);
    draws.tasks.push_back({&workload, &scenario.cluster->topology, std::move(perturbation)});
    numbers.push_back({strategy.data_parallel, i, scenario.software_factor});
  }
  if (elsewhere && count > 1) {
    draws.elsewhere = [&elsewhere, numbers = std::move(numbers)] { return elsewhere(numbers); };
  }
  return draws;
}

}  // namespace

void check_passes(const Strategy& strategy) {
  const double passes = 2.0 * static_cast<double>(strategy.micro_batches()) * strategy.chunks();
  if (passes <= static_cast<double>(limits().passes)) return;
  Diagnostic problem;
  problem.message =
      fmt::format("an iteration would have {} passes of micro-batches through chunks of the model",
                  grouped_digits(static_cast<long long>(passes)));
  problem.label = fmt::format("at most {} are simulated", grouped_digits(limits().passes));
  problem.pointer = "/strategy/global_batch";
  problem.help =
      "take a larger micro_batch or a smaller global_batch; " + limit_help(&Limits::passes);
  throw InputError(std::move(problem));
}

BuiltWorkload built_job(const Scenario& scenario, const Strategy& strategy) {
  check_passes(strategy);
  const Placement placement = placement_of(strategy, scenario.placement.order);
  BuiltWorkload built =
      build_workload({.model = scenario.model,
                      .strategy = strategy,
                      .profiles = scenario.profiles(),
                      .cluster = *scenario.cluster,
                      .placement = placement,
                      .algorithm = scenario.run.gradient_algorithm,
                      .slow_accelerators = &scenario.perturbation.slow_accelerators});
  if (scenario.software_factor != 1.0) scale_software(built.workload, scenario.software_factor);
  for (const WorkloadChange change : scenario.workload_changes) change(built.workload);
  return built;
}

JobRun run_job(const Scenario& scenario, const Strategy& strategy, int replicas, int jobs,
               const DrawsElsewhere& elsewhere, std::optional<double> first_draw) {
  BuiltWorkload built = built_job(scenario, strategy);
  JobRun run{std::move(built.workload), built.cost, {}, 0, {}};
  Draws draws = draws_of(scenario, strategy, run.workload, replicas, elsewhere);
  simulate_replicas(run, std::move(draws.tasks), scenario.run.engine, jobs, draws.elsewhere,
                    first_draw);
  check_length(run.times);
  if (!scenario.workload_changes.empty()) return run;  // physics holds for whole jobs only
  // Draws change no bytes, so one bound holds for all.
  check_physical(physical_bound(scenario.model, strategy, scenario.profiles(), run.workload,
                                run.timeline, scenario.cluster->topology),
                 Seconds(std::ranges::min(run.times)), scenario.perturbation);
  return run;
}

Seconds job_time(const Scenario& scenario, const Strategy& strategy, int replicas, int jobs,
                 const DrawsElsewhere& elsewhere) {
  const BuiltWorkload built = built_job(scenario, strategy);
  const Draws draws = draws_of(scenario, strategy, built.workload, replicas, elsewhere);
  const std::vector<double> times =
      draws.elsewhere ? draws.elsewhere() : simulated_times(draws.tasks, scenario.run.engine, jobs);
  check_length(times);
  return Seconds(times[median_index(times)]);
}

double draw_length(Scenario scenario, const DrawOfJob& draw) {
  scenario.software_factor = draw.software_factor;
  const Strategy strategy = draw.data_parallel == scenario.strategy->data_parallel
                                ? *scenario.strategy
                                : with_replicas(*scenario.strategy, draw.data_parallel).value();
  const BuiltWorkload built = built_job(scenario, strategy);
  const SimulationTask task{&built.workload, &scenario.cluster->topology,
                            perturbation_of_draw(scenario, draw.number)};
  return simulated_times({task}, scenario.run.engine, 1).front();
}

}  // namespace headway
