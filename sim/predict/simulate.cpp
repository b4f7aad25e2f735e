#include "sim/predict/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/fingerprint.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/predict/apply_anchors.h"
#include "sim/predict/input/input_use.h"
#include "sim/predict/interval.h"
#include "sim/predict/job_run.h"
#include "sim/predict/job_run_memory.h"
#include "sim/predict/kind_use.h"
#include "sim/predict/located_problems.h"
#include "sim/predict/predicted_memory.h"
#include "sim/predict/reliability/reliability.h"
#include "sim/predict/shared_error.h"
#include "sim/predict/shared_fabric/shared_fabric.h"
#include "sim/predict/statistics/steps_to_target.h"
#include "sim/programs/closed_form.h"
#include "sim/result/activity.h"
#include "sim/result/breakdown.h"
#include "sim/result/fabric_use.h"
#include "sim/result/link_use.h"
#include "sim/result/speed.h"
#include "sim/scenario/provenance.h"
#include "sim/scenario/smaller_job.h"

namespace headway {
namespace {

constexpr std::size_t kListedLinks = 10;

std::string schedule_text(const Strategy& strategy) {
  std::string text(strategy.schedule->title);
  if (strategy.schedule->interleaves() && strategy.virtual_stages > 1) {
    text += fmt::format(" x {}", strategy.virtual_stages);
  }
  return text;
}

std::string strategy_text(const Strategy& strategy) {
  std::string text = fmt::format("tp {}", strategy.tensor_parallel);
  if (strategy.context_parallel > 1) text += fmt::format(", cp {}", strategy.context_parallel);
  if (strategy.expert_parallel > 1) text += fmt::format(", ep {}", strategy.expert_parallel);
  if (strategy.expert_tensor_parallel > 1) {
    text += fmt::format(", etp {}", strategy.expert_tensor_parallel);
  }
  text += fmt::format(", pp {}, dp {}, global batch {}", strategy.pipeline_parallel,
                      strategy.data_parallel, strategy.global_batch);
  if (strategy.pipeline_parallel > 1) text += ", " + schedule_text(strategy);
  return text + strategy.synchronisation->work_text(strategy);
}

Question question_of(const Scenario& scenario, const SimulateOptions& options) {
  Question question;
  question.model = scenario.model.name;
  question.cluster = scenario.cluster->name;
  question.node_type = scenario.cluster->type_names();
  const int of_node = scenario.cluster->node_type.accelerators;
  question.nodes = (scenario.strategy.ranks() + of_node - 1) / of_node;
  question.accelerators = scenario.strategy.ranks();
  question.strategy = strategy_text(scenario.strategy);
  for (int kind = 0; kind < scenario.cluster->kinds(); ++kind) {
    const Profile& profile = scenario.profiles().of(kind);
    question.profile += fmt::format("{}{} ({})", kind > 0 ? ", " : "", profile.name, profile.kind);
  }
  question.scenario = scenario.resolved;
  question.provenance = provenance(scenario, options.command_line);
  return question;
}

std::optional<Strategy> reference_strategy(const Scenario& scenario,
                                           const SimulateOptions& options) {
  const Strategy& strategy = scenario.strategy;
  // Fewer nodes of several kinds are another mixture: nobody's reference unless asked for.
  if (scenario.cluster->kinds() > 1 && !options.reference_accelerators) return std::nullopt;
  std::vector<int> sizes;
  // Against itself only where somebody asks for it: that says nothing.
  const int most = strategy.data_parallel - (options.reference_accelerators ? 0 : 1);
  for (int replicas = 1; replicas <= most; ++replicas) {
    if (strategy.data_parallel % replicas != 0) continue;
    const std::optional<Strategy> smaller = with_replicas(strategy, replicas);
    if (!smaller) continue;
    sizes.push_back(smaller->ranks());
    if (options.reference_accelerators) {
      if (sizes.back() == *options.reference_accelerators) return smaller;
    } else if (predicted_memory(scenario, *smaller).fits) {
      return smaller;
    }
  }
  if (!options.reference_accelerators) return std::nullopt;
  Diagnostic problem;
  problem.message = fmt::format("--reference {} is not a size this job can be scaled down to",
                                *options.reference_accelerators);
  problem.help = fmt::format("use {}", join_words(sizes, " or "));
  throw InputError(std::move(problem));
}

void add_warnings(Prediction& prediction, const Scenario& scenario, const JobRun& result) {
  if (result.cost.extrapolated) {
    prediction.warnings.push_back(
        "some kernels lie outside of what the profile was measured on; `headway-calibrate` with "
        "the shapes of this scenario would narrow the interval");
  }
  for (int kind = 0; kind < scenario.cluster->kinds(); ++kind) {
    const std::string& nodes_have = scenario.cluster->type_of_kind(kind).accelerator;
    const Profile& profile = scenario.profiles().of(kind);
    if (nodes_have != "any" && nodes_have != profile.accelerator) {
      prediction.warnings.push_back(fmt::format(
          "the nodes have {}, and profile {} was measured on {}: compute is priced as the latter",
          nodes_have, profile.name, profile.accelerator));
    }
  }
}

/// Of one of the job's accelerators, on average.
FlopsPerSecond mean_peak(const Scenario& scenario) {
  const auto peak_of = [&](int kind) {
    return scenario.profiles().of(kind).device.peak_flops.at(scenario.strategy.precision).value;
  };
  const Cluster& cluster = *scenario.cluster;
  if (cluster.kinds() == 1) return FlopsPerSecond(peak_of(0));
  double sum = 0.0;
  for (int i = 0; i < scenario.strategy.ranks(); ++i) sum += peak_of(cluster.kind_of(i));
  return FlopsPerSecond(sum / scenario.strategy.ranks());
}

/// What goes on beside steps and is not told of.
std::string absent_parts(const Scenario& scenario) {
  if (scenario.input) {
    if (!scenario.reliability) return "checkpoints and failures";
    if (scenario.input->storage_nodes == 0) return "input that contends with the job's own traffic";
    return scenario.input->holds_checkpoints ? "a checkpoint read back from storage that is busy"
                                             : "checkpoints that contend with steps";
  }
  return scenario.reliability ? "reading training data"
                              : "reading training data, checkpoints and failures";
}

/// Workers of asynchronous servers update by themselves.
UpdatesOfStep updates_of_step(const Strategy& worked_off, const std::optional<ServerUse>& servers,
                              const Strategy& strategy) {
  UpdatesOfStep step{.batch = static_cast<double>(worked_off.global_batch),
                     .accelerators = static_cast<double>(strategy.ranks())};
  if (servers && strategy.synchronisation->servers()->asynchronous) {
    step.updates = static_cast<double>(servers->workers);
    step.staleness = servers->mean_staleness;
  }
  return step;
}

/// Steps wait for their samples where these take longer.
void add_input(Prediction& prediction, const Scenario& scenario, int jobs) {
  const Seconds iteration = prediction.iteration_time;
  prediction.input = input_use(scenario, scenario.strategy, iteration, jobs);
  prediction.iteration_time += prediction.input->stalled;
  for (double* of_draws :
       {&prediction.replica_time.mean, &prediction.replica_time.low,
        &prediction.replica_time.median, &prediction.replica_time.high,
        &prediction.iteration_interval.low, &prediction.iteration_interval.high}) {
    *of_draws =
        step_of_other(*scenario.input, *prediction.input, iteration, Seconds(*of_draws)).count();
  }
}

std::vector<std::string> general_limits(const Scenario& scenario) {
  std::vector<std::string> limits = {
      "congestion control and packet effects: links are shared max-min fairly at any instant",
      "compute slowed down by communication kernels that run at the same time",
      absent_parts(scenario), "the first iterations, before clocks and memory allocators settle"};
  if (scenario.cluster->routing->hashes_flows()) {
    limits.insert(limits.begin(),
                  "other collisions of hashed flows: which ones meet is one draw (routing.seed); "
                  "`--what-if` tells the worst of eight");
  }
  return limits;
}

/// Where 90 % of measured iterations should lie, with what measured steps say.
Interval interval_of(const JobRun& run, const Scenario& scenario,
                     const std::optional<AppliedAnchors>& anchors) {
  if (!anchors) return expected_interval(run.times, run.cost.spread, model_error(scenario));
  if (!anchors->variance_left) return repeated_interval(run.times);
  return anchored_interval(run.times, run.cost.spread, model_error(job_kind(scenario)),
                           *anchors->variance_left);
}

/// Another configuration's measured step says nothing more once the software is anchored.
Confidence confidence_of(const Scenario& scenario, const JobRun& run, const Interval& interval) {
  const JobKind kind = job_kind(scenario);
  const Profile& profile = least_known(scenario);
  const std::string& family = scenario.strategy.kernel_family;
  const PublishedSteps& software = profile.kernel_families.at(family).published_steps;
  const PublishedSteps& accelerator = profile.published_steps;
  const bool is_measured = profile.kind == "measured";
  const ErrorTraits traits = error_traits(scenario.model, scenario.strategy);
  return {
      .software = {family, is_measured && software.count == 0, software.count, software.sources},
      .accelerator = {profile.accelerator, is_measured, accelerator.count, accelerator.sources},
      .with_measured_step = scenario.anchors.empty()
                                ? anchored_interval(run.times, run.cost.spread, model_error(kind),
                                                    error_by_others(traits, {traits}).variance_left)
                                : interval,
      .job_kind = std::string(job_kind_title(kind)),
      .model_error = model_error(kind),
      .accelerator_error = accelerator_error(kind, profile),
      .kernel_spread = run.cost.spread,
      .beyond_calibration = run.cost.extrapolated};
}

/// Of the stage that limits the replica that ends last. What the order of passes leaves idle is
/// told from what slowness adds to it, so that both are the same whoever happens to be last; where
/// nobody is slow, what is waited for beyond it is waited for because of the network.
TimeByCause breakdown_of(const Scenario& scenario, const JobRun& run, std::int32_t last) {
  if (!run.workload.servers.empty()) return group_breakdown(run.workload, run.timeline, last);
  const std::int32_t group = busiest_group(run.workload, last);
  TimeByCause time = group_breakdown(run.workload, run.timeline, group);
  Seconds idle = nominal_waiting(run.workload, scenario.cluster->topology, group);
  if (scenario.perturbation.none()) idle = max(idle, time[Cause::pipeline_bubble]);
  settle_waiting(time, idle);
  return time;
}

Simulation simulated(const Scenario& asked, const SimulateOptions& options) {
  Scenario scenario = asked;
  Simulation simulation;
  Prediction& prediction = simulation.prediction;
  prediction.question = question_of(scenario, options);
  check_passes(scenario.strategy);
  prediction.memory = predicted_memory(scenario, scenario.strategy);
  prediction.not_modelled = general_limits(scenario);
  if (!prediction.memory.fits && !options.even_if_it_does_not_fit) return simulation;

  // Read first: a wrong --reference must not cost a simulation.
  std::optional<Strategy> reference;
  if (options.scaling) reference = reference_strategy(scenario, options);

  std::optional<AppliedAnchors> anchors;
  if (!scenario.anchors.empty()) {
    anchors = apply_anchors(scenario, options.jobs, options.draws_elsewhere);
    prediction.anchor = anchors->effect;
  }
  const bool may_be_known = options.memory != nullptr && scenario.anchors.empty();
  JobRun main_run = may_be_known
                        ? options.memory->run(scenario, scenario.strategy, options.jobs)
                        : run_job(scenario, scenario.strategy, scenario.run.replicas, options.jobs,
                                  options.draws_elsewhere, options.first_draw);
  const Timeline& timeline = main_run.timeline;
  prediction.iteration_time = Seconds(timeline.finish);
  prediction.replicas = static_cast<int>(main_run.times.size());
  prediction.replica_time = percentiles_of(main_run.times);
  prediction.iteration_interval = interval_of(main_run, scenario, anchors);
  prediction.confidence = confidence_of(scenario, main_run, prediction.iteration_interval);
  prediction.counts = timeline.counts;
  if (scenario.input) add_input(prediction, scenario, options.jobs);
  Strategy worked_off = scenario.strategy;
  if (!main_run.workload.servers.empty()) {
    prediction.servers = server_use(main_run.workload, timeline);
    // Backups' gradients are not part of a step.
    const std::int64_t quorum = main_run.workload.serving.quorum;
    if (quorum > 0) {
      worked_off.global_batch =
          worked_off.global_batch * quorum / std::ssize(main_run.workload.groups);
    }
  }
  set_speed(prediction, scenario.model, worked_off, mean_peak(scenario));
  if (scenario.cluster->kinds() > 1) {
    prediction.accelerator_kinds = kind_use(scenario, main_run, prediction.memory);
  }

  const std::int32_t group = critical_group(main_run.workload, timeline);
  prediction.critical_rank = group_name(main_run.workload, group);
  prediction.breakdown = breakdown_of(scenario, main_run, group);
  if (prediction.input) prediction.breakdown[Cause::data_loading] += prediction.input->stalled;
  prediction.critical_path = critical_path(main_run.workload, timeline);
  prediction.busiest_links =
      busiest_links(main_run.workload, timeline, scenario.cluster->topology, kListedLinks);
  prediction.fabric = fabric_use(main_run.workload, timeline, scenario.cluster->topology);
  prediction.not_modelled.insert(prediction.not_modelled.begin(), main_run.workload.notes.begin(),
                                 main_run.workload.notes.end());
  add_warnings(prediction, scenario, main_run);
  if (anchors) std::ranges::move(anchors->warnings, std::back_inserter(prediction.warnings));
  if (scenario.statistics) {
    prediction.statistics = steps_to_target(
        *scenario.statistics, updates_of_step(worked_off, prediction.servers, scenario.strategy));
  }
  if (scenario.reliability) {
    prediction.reliability = reliability(scenario, prediction.iteration_time, prediction.input);
  }
  if (!scenario.jobs.empty()) prediction.shared_fabric = shared_fabric(scenario, options.jobs);
  if (options.what_if != WhatIfExtent::none) {
    prediction.what_if = what_if(scenario, main_run, options.jobs, options.what_if);
  }

  if (reference) {
    const bool is_itself = reference->data_parallel == scenario.strategy.data_parallel;
    Seconds reference_time = prediction.iteration_time;
    if (!is_itself) {
      reference_time = may_be_known ? options.memory->run(scenario, *reference, options.jobs).time()
                                    : job_time(scenario, *reference, scenario.run.replicas,
                                               options.jobs, options.draws_elsewhere);
      if (scenario.input) {
        reference_time += input_use(scenario, *reference, reference_time, options.jobs).stalled;
      }
    }
    // Work for each accelerator is the same, so the ratio of speeds is that of times.
    prediction.scaling =
        ScalingReference{.accelerators = reference->ranks(),
                         .iteration_time = reference_time,
                         .efficiency = reference_time / prediction.iteration_time,
                         .description = fmt::format("data_parallel {}", reference->data_parallel)};
  }
  simulation.timeline = std::move(main_run.timeline);
  simulation.workload = std::move(main_run.workload);
  return simulation;
}

}  // namespace

Simulation simulate(const Scenario& asked, const SimulateOptions& options) {
  try {
    return simulated(asked, options);
  } catch (const InputError& error) {
    throw located(error, asked);
  }
}

Simulation simulate_in_full(const Scenario& scenario, SimulateOptions options) {
  if (options.what_if == WhatIfExtent::none && scenario.perturbation.lists_slowness()) {
    options.what_if = WhatIfExtent::stragglers;
  }
  Simulation simulation = simulate(scenario, options);
  Prediction& prediction = simulation.prediction;
  prediction.activity =
      activity_of(simulation.workload, simulation.timeline, prediction.critical_path);
  return simulation;
}

}  // namespace headway
