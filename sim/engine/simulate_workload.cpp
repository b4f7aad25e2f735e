#include "sim/engine/simulate_workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>

#include "sim/base/child_process.h"
#include "sim/base/diagnostic.h"
#include "sim/engine/executor.h"
#include "sim/engine/folded_job.h"
#include "sim/engine/simgrid_flows.h"
#include "sim/engine/timeline_bytes.h"
#include "sim/engine/training_model.h"
#include "sim/programs/perturbation/met_pauses.h"
#include "sim/result/last_iteration.h"
#include "sim/result/mean_timeline.h"

namespace headway {
namespace {

/// Flows that can be under way at once: a collective of each communicator, every message (one slow
/// link may hold up all of them), and one each way between a rank group and a server.
int most_flows(const Workload& workload) {
  std::size_t flows =
      workload.communicators.size() + 2 * workload.groups.size() * workload.servers.size();
  for (const RankGroup& group : workload.groups) {
    const Program& program = workload.programs[static_cast<std::size_t>(group.program)];
    flows += static_cast<std::size_t>(
        std::ranges::count(program.operations, OperationKind::send, &Operation::kind));
  }
  return static_cast<int>(flows);
}

/// The settings of SimGrid under which sharing is max-min and nothing is added: no protocol
/// overhead factors (CM02), no acknowledgements taking bandwidth (crosstraffic), no window limit
/// (TCP-gamma).
void configure_simgrid() {
  simgrid::s4u::Engine::set_config("network/model:CM02");
  simgrid::s4u::Engine::set_config("network/crosstraffic:0");
  simgrid::s4u::Engine::set_config("network/TCP-gamma:1e30");
  simgrid::s4u::Engine::set_config("network/optim:Lazy");
}

std::set<LinkId> links_of(const std::vector<LinkEpisode>& episodes) {
  std::set<LinkId> links;
  for (const LinkEpisode& episode : episodes) links.insert(episode.link);
  return links;
}

/// SimGrid's engine, which a process can make once, with the executors' model in it. Never
/// destroyed: SimGrid's shutdown runs when the process exits, which children do without cleaning
/// up.
struct ProcessEngine {
  simgrid::s4u::Engine* engine;
  TrainingModel* model;
};

ProcessEngine new_engine() {
  std::array<char*, 3> arguments{const_cast<char*>("headway"),
                                 const_cast<char*>("--log=root.thresh:critical"), nullptr};
  int count = 2;
  auto* engine = new simgrid::s4u::Engine(&count, arguments.data());
  configure_simgrid();
  auto model = std::make_shared<TrainingModel>();
  engine->add_model(model);
  return {engine, model.get()};
}

Timeline run_in(const ProcessEngine& process, Executor& executor, OthersInEngine others) {
  process.model->take(executor, others, simgrid::s4u::Engine::get_clock());
  executor.start();
  process.engine->run();
  HEADWAY_CHECK(executor.complete(), executor.unfinished_text());
  return executor.take_timeline();
}

/// What the links carry, of the job and of others.
struct NetworkUse {
  std::vector<FlowPlan> with_others;  ///< plans of the job, then of others; empty if there are none
  std::shared_ptr<const LinkUsage> usage;
};

NetworkUse network_use(const SimulationTask& task, const EngineOptions& options) {
  const Perturbation& perturbation = task.perturbation;
  NetworkUse use;
  if (!perturbation.background.empty()) {
    use.with_others = task.workload->plans;
    for (const BackgroundFlow& flow : perturbation.background) use.with_others.push_back(flow.plan);
  }
  use.usage = std::make_shared<const LinkUsage>(
      link_usage(use.with_others.empty() ? task.workload->plans : use.with_others, *task.topology,
                 options.fold_equal_links && options.flows != FlowEngine::paused,
                 task.workload->nic_efficiency, links_of(perturbation.link_episodes)));
  return use;
}

/// What the links of a job carry, worked out once for all tasks that ask for the same.
class SharedUse {
 public:
  SharedUse(const std::vector<SimulationTask>& tasks, const EngineOptions& options)
      : options_(options) {
    if (tasks.size() < 2) return;
    std::map<Job, int> tasks_of;
    for (const SimulationTask& task : tasks) {
      if (is_shared(task)) ++tasks_of[job_of(task)];
    }
    for (const SimulationTask& task : tasks) {
      const auto count = tasks_of.find(job_of(task));
      if (count == tasks_of.end() || count->second < 2 || known_.contains(count->first)) continue;
      known_.emplace(count->first, network_use({task.workload, task.topology, {}}, options));
    }
  }

  [[nodiscard]] NetworkUse of(const SimulationTask& task) const {
    const auto found = is_shared(task) ? known_.find(job_of(task)) : known_.end();
    return found == known_.end() ? network_use(task, options_) : found->second;
  }

 private:
  using Job = std::pair<const Workload*, const Topology*>;
  static Job job_of(const SimulationTask& task) { return {task.workload, task.topology}; }
  /// Others and changing links have a part in it.
  static bool is_shared(const SimulationTask& task) {
    return task.perturbation.background.empty() && task.perturbation.link_episodes.empty();
  }

  EngineOptions options_;
  std::map<Job, NetworkUse> known_;
};

/// With our own max-min solver: SimGrid has nothing but the model to ask. `slowest` of workers that
/// are bound to each other; jobs with servers are never folded.
EngineRun simulate_incremental(const SimulationTask& task, const NetworkUse& use,
                               const EngineOptions& options, Recorded recorded,
                               const std::vector<bool>& slowest = {}) {
  static const ProcessEngine process = [] {
    const ProcessEngine made = new_engine();
    FabricZone::create({}, 1);  // an engine needs a platform, be it empty
    return made;
  }();
  std::optional<FoldedJob> folded;
  const bool is_paused = options.flows == FlowEngine::paused;
  if (options.fold_alike_groups && !is_paused) {
    folded = folded_job(*task.workload, *use.usage, task.perturbation);
  }
  const Workload& workload = folded ? folded->workload : *task.workload;
  Executor executor(workload, task.perturbation, recorded, slowest);
  IncrementalFlows flows(
      folded ? std::make_shared<const LinkUsage>(std::move(folded->usage)) : use.usage,
      executor.queue(),
      [&executor](std::int32_t token, double now) { executor.flow_finished(token, now); });
  if (is_paused) flows.pause_upstream(*task.topology);
  flows.use_episodes(task.perturbation.link_episodes);
  flows.use_background(task.perturbation.background,
                       static_cast<std::int32_t>(workload.plans.size()));
  executor.use_incremental(flows);
  EngineRun run{.timeline = run_in(process, executor, OthersInEngine::nobody),
                .folding = std::nullopt};
  if (folded) run.folding = std::move(folded->folding);
  return run;
}

/// With SimGrid's Comms, over a platform of its own: once a process.
EngineRun simulate_with_comms(const SimulationTask& task, const NetworkUse& use,
                              const EngineOptions& /*options*/, Recorded recorded) {
  HEADWAY_CHECK(task.perturbation.link_episodes.empty(),
                "Comms keep the bandwidth they began with");
  HEADWAY_CHECK(task.perturbation.background.empty(), "Comms have an end");
  const Workload& workload = *task.workload;
  const ProcessEngine process = new_engine();
  Executor executor(workload, task.perturbation, recorded);
  SimGridFlows comms(*use.usage, most_flows(workload), [&executor](std::int32_t token, double now) {
    executor.flow_finished(token, now);
  });
  executor.use_network(comms);
  return {.timeline = run_in(process, executor, OthersInEngine::comms), .folding = std::nullopt};
}

/// What holds for good: nothing that is drawn anew, and no episode that ends.
Perturbation for_good(Perturbation perturbation) {
  const auto ends = [](const auto& episode) { return std::isfinite(episode.to); };
  perturbation.jitter = {};
  perturbation.micro_batches = {};
  std::erase_if(perturbation.slow_episodes, ends);
  std::erase_if(perturbation.link_episodes, ends);
  return perturbation;
}

/// Of a job whose servers bound how far workers may be ahead, those that hold all others up in the
/// end, whatever makes them slow: devices, episodes, their network. Each has the pace that it has
/// without a bound.
std::vector<bool> slowest_workers(const SimulationTask& task, const NetworkUse& use,
                                  const EngineOptions& options) {
  constexpr double kAlike = 0.01;  // paces of so few iterations are no surer
  Workload workload = *task.workload;
  workload.serving.lead = Serving::kAnyLead;
  const SimulationTask apart{&workload, task.topology, for_good(task.perturbation)};
  const std::vector<double> each = paces(
      workload, unfolded(workload, simulate_incremental(apart, use, options, Recorded::timeline)));
  const double slowest = std::ranges::min(each);
  std::vector<bool> are_slowest;
  for (const double pace : each) are_slowest.push_back(pace <= (1.0 + kAlike) * slowest);
  return are_slowest;
}

EngineRun simulated(const SimulationTask& task, const EngineOptions& options,
                    const SharedUse& shared, Recorded recorded) {
  const NetworkUse use = shared.of(task);
  // A process has one engine, which Comms would need for themselves.
  if (options.flows == FlowEngine::simgrid) {
    return simulate_with_comms(task, use, options, recorded);
  }
  const Workload& workload = *task.workload;
  const bool is_bounded = workload.is_out_of_step() && workload.iterations > 1 &&
                          workload.serving.lead != Serving::kAnyLead;
  return simulate_incremental(
      task, use, options, recorded,
      is_bounded ? slowest_workers(task, use, options) : std::vector<bool>());
}

/// What the whole job did in the iteration that was asked for.
Timeline timeline_of(const SimulationTask& task, EngineRun run) {
  Timeline timeline = unfolded(*task.workload, std::move(run));
  if (task.workload->iterations > 1) return last_iteration(*task.workload, timeline);
  return timeline;
}

/// Where one iteration lies within those that are run, only their timeline tells.
double plain_length(const SimulationTask& task, const EngineOptions& options,
                    const SharedUse& shared) {
  if (task.workload->iterations == 1) {
    return simulated(task, options, shared, Recorded::length).timeline.finish;
  }
  return timeline_of(task, simulated(task, options, shared, Recorded::timeline)).finish;
}

/// Iterations of which the average is asked for: as likely as their weights.
struct Weighted {
  std::vector<SimulationTask> tasks;
  std::vector<double> weights;
};

/// An iteration that meets no pause, and some that do. Pauses of workers that wait for nobody are
/// spread evenly instead: their paces are averaged.
Weighted iterations_of(const SimulationTask& task, const EngineOptions& options,
                       const SharedUse& shared) {
  if (task.perturbation.pauses.empty()) return {{task}, {1.0}};
  SimulationTask without = task;
  without.perturbation.pauses.clear();
  const double length = simulated(without, options, shared, Recorded::length).timeline.finish;
  if (task.workload->is_out_of_step()) {
    without.perturbation = with_even_pauses(task.perturbation, length / task.workload->iterations);
    return {{without}, {1.0}};
  }
  MetPauses met = met_pauses(task.perturbation, *task.workload, length);
  Weighted all;
  if (met.probability < 1.0) all = {{without}, {1.0 - met.probability}};
  for (Perturbation& one : met.iterations) {
    all.tasks.push_back({task.workload, task.topology, std::move(one)});
    all.weights.push_back(met.probability / static_cast<double>(met.iterations.size()));
  }
  return all;
}

double length_of(const SimulationTask& task, const EngineOptions& options,
                 const SharedUse& shared) {
  const Weighted all = iterations_of(task, options, shared);
  double sum = 0.0;
  for (std::size_t i = 0; i < all.tasks.size(); ++i) {
    sum += all.weights[i] * plain_length(all.tasks[i], options, shared);
  }
  return sum;
}

/// A run of what was asked for that needs no more work, as children send it.
struct AveragedRun {
  EngineRun run;
  bool is_whole = false;  ///< all groups, and one iteration
};

AveragedRun averaged(const SimulationTask& task, const EngineOptions& options,
                     const SharedUse& shared) {
  const Weighted all = iterations_of(task, options, shared);
  if (all.tasks.size() == 1) {
    return {simulated(all.tasks.front(), options, shared, Recorded::timeline)};
  }
  std::vector<Timeline> timelines;
  for (const SimulationTask& one : all.tasks) {
    timelines.push_back(timeline_of(one, simulated(one, options, shared, Recorded::timeline)));
  }
  return {{.timeline = mean_timeline(timelines, all.weights), .folding = std::nullopt}, true};
}

Timeline timeline_of(const SimulationTask& task, AveragedRun averaged) {
  if (averaged.is_whole) return std::move(averaged.run.timeline);
  return timeline_of(task, std::move(averaged.run));
}

/// Whether there is no need for another process: this one is a child already, and has nothing else
/// to do meanwhile.
bool runs_here(const EngineOptions& options, int jobs) {
  return in_child() && jobs == 1 && options.flows != FlowEngine::simgrid;
}

/// What `written` tells of each task, in its child.
std::vector<std::string> run_tasks(const std::vector<SimulationTask>& tasks,
                                   const EngineOptions& options, int jobs,
                                   std::string (*written)(const SimulationTask&,
                                                          const EngineOptions&, const SharedUse&)) {
  const SharedUse shared(tasks, options);
  std::vector<std::function<std::string()>> runs;
  runs.reserve(tasks.size());
  for (const SimulationTask& task : tasks) {
    runs.emplace_back(
        [&task, &options, &shared, written] { return written(task, options, shared); });
  }
  std::vector<std::string> outputs;
  outputs.reserve(tasks.size());
  if (in_child() && simgrid::s4u::Engine::has_instance()) throw FreshChildNeeded();
  const ChildLife life =
      options.flows == FlowEngine::simgrid ? ChildLife::one_task : ChildLife::many_tasks;
  for (ChildOutcome& outcome : run_in_children(runs, jobs, {}, life)) {
    outputs.push_back(output_or_throw(std::move(outcome)));
  }
  return outputs;
}

}  // namespace

std::vector<Timeline> simulate_workloads(const std::vector<SimulationTask>& tasks,
                                         const EngineOptions& options, int jobs) {
  std::vector<Timeline> timelines;
  timelines.reserve(tasks.size());
  if (runs_here(options, jobs)) {
    const SharedUse shared(tasks, options);
    for (const SimulationTask& task : tasks) {
      timelines.push_back(timeline_of(task, averaged(task, options, shared)));
    }
    return timelines;
  }
  const auto written = [](const SimulationTask& task, const EngineOptions& of_engine,
                          const SharedUse& shared) {
    const AveragedRun one = averaged(task, of_engine, shared);
    return std::string(1, one.is_whole ? '\1' : '\0') + run_bytes(one.run);
  };
  const std::vector<std::string> runs = run_tasks(tasks, options, jobs, written);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    timelines.push_back(timeline_of(
        tasks[i], AveragedRun{run_of_bytes(runs[i].substr(1)), runs[i].front() != '\0'}));
  }
  return timelines;
}

std::vector<double> simulated_times(const std::vector<SimulationTask>& tasks,
                                    const EngineOptions& options, int jobs) {
  const auto length_bytes = [](const SimulationTask& task, const EngineOptions& of_engine,
                               const SharedUse& shared) {
    const double length = length_of(task, of_engine, shared);
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes;
  };
  std::vector<double> times;
  times.reserve(tasks.size());
  if (runs_here(options, jobs)) {
    const SharedUse shared(tasks, options);
    for (const SimulationTask& task : tasks) {
      times.push_back(length_of(task, options, shared));
    }
    return times;
  }
  for (const std::string& bytes : run_tasks(tasks, options, jobs, length_bytes)) {
    HEADWAY_CHECK(bytes.size() == sizeof(double), "a child sends the length of its iteration");
    times.emplace_back();
    std::memcpy(&times.back(), bytes.data(), sizeof(double));
  }
  return times;
}

}  // namespace headway
