#include "sim/predict/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/jobs/strategy.h"
#include "sim/predict/apply_anchors.h"
#include "sim/predict/input/input_use.h"
#include "sim/predict/interval.h"
#include "sim/predict/job_run.h"
#include "sim/predict/job_run_memory.h"
#include "sim/predict/kind_use.h"
#include "sim/predict/left_out.h"
#include "sim/predict/located_problems.h"
#include "sim/predict/post_training/post_training.h"
#include "sim/predict/predicted_memory.h"
#include "sim/predict/question.h"
#include "sim/predict/reliability/reliability.h"
#include "sim/predict/scaling.h"
#include "sim/predict/shared_error.h"
#include "sim/predict/shared_fabric/shared_fabric.h"
#include "sim/predict/slow_link_loss.h"
#include "sim/predict/speed.h"
#include "sim/predict/statistics/steps_to_target.h"
#include "sim/predict/what_if/bad_links.h"
#include "sim/predict/what_if/removals.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/workload_notes.h"
#include "sim/result/activity.h"
#include "sim/result/breakdown.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/fabric_use.h"
#include "sim/result/link_use.h"

namespace headway {
namespace {

constexpr std::size_t kListedLinks = 10;

/// scenarios/validation/published_rollouts.json.
constexpr const char* kGeneratingEvidence =
    "generating is as fast as hardware allows, without what engines do between tokens and "
    "frameworks between phases: of ten published steps of NeMo RL one took 0.9 of what is "
    "predicted, nine 1.1 to 3.7 times as long, 1.6 in the median; "
    "post_training.generation.token_overhead says what yours does";

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

/// Of asynchronous workers one may do most of the steps: what it exchanges with a server on its own
/// host crosses no NIC. That is so, and throughput counts them; who buys by it should know.
void add_ahead_warning(Prediction& prediction, const JobRun& run) {
  constexpr double kFarAhead = 3.0;  // times the mean worker's updates
  if (!run.workload.is_out_of_step() || run.timeline.updates.empty()) return;
  std::vector<double> updates(run.workload.groups.size(), 0.0);
  for (const Timeline::Update& update : run.timeline.updates) {
    updates[static_cast<std::size_t>(update.group)] += 1.0;
  }
  const auto most = std::ranges::max_element(updates);
  const double share = *most / static_cast<double>(run.timeline.updates.size());
  if (share * static_cast<double>(updates.size()) < kFarAhead) return;
  std::string text = fmt::format(
      "{:.0f} % of all steps are of one of {} workers, replica {}: it is nearest to the servers",
      100.0 * share, updates.size(),
      run.workload.groups[static_cast<std::size_t>(most - updates.begin())].replica);
  if (!prediction.busiest_links.empty()) {
    const LinkUse& link = prediction.busiest_links.front();
    text += fmt::format("; the others wait for the link from {} to {}, {:.0f} % busy", link.from,
                        link.to, 100.0 * link.utilisation);
  }
  prediction.warnings.push_back(std::move(text));
}

/// The peak of one of the job's accelerators, on average.
FlopsPerSecond mean_peak(const Scenario& scenario) {
  const auto peak_of = [&](int kind) {
    return scenario.profiles().of(kind).device.peak_flops.at(scenario.strategy->precision).value;
  };
  const Cluster& cluster = *scenario.cluster;
  if (cluster.kinds() == 1) return FlopsPerSecond(peak_of(0));
  double sum = 0.0;
  for (int i = 0; i < scenario.accelerators(); ++i) sum += peak_of(cluster.kind_of(i));
  return FlopsPerSecond(sum / scenario.accelerators());
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

std::array<double*, 6> times_of_draws(Prediction& prediction) {
  return {&prediction.replica_time.mean,      &prediction.replica_time.low,
          &prediction.replica_time.median,    &prediction.replica_time.high,
          &prediction.iteration_interval.low, &prediction.iteration_interval.high};
}

/// Steps wait for their samples where these take longer.
void add_input(Prediction& prediction, const Scenario& scenario, int jobs) {
  const Seconds iteration = prediction.iteration_time;
  prediction.input = input_use(scenario, *scenario.strategy, iteration, jobs);
  prediction.iteration_time += prediction.input->stalled;
  for (double* of_draws : times_of_draws(prediction)) {
    *of_draws =
        step_of_other(*scenario.input, *prediction.input, iteration, Seconds(*of_draws)).count();
  }
}

/// How long the job's run would take alone; endless where the scenario does not say how much it
/// does.
Seconds run_alone(const Prediction& prediction, const Scenario& scenario) {
  if (const std::optional<double> iterations = run_iterations(prediction)) {
    return *iterations * prediction.iteration_time;
  }
  if (scenario.reliability && scenario.reliability->duration) {
    return *scenario.reliability->duration;
  }
  return Seconds(std::numeric_limits<double>::infinity());
}

/// An iteration is the mean one of the job's run beside others. What these cost it is lost on links
/// that are busy with theirs.
void add_company(Prediction& prediction, const Scenario& scenario, int jobs) {
  SharedFabric& shared = prediction.shared_fabric.emplace(shared_fabric(scenario, jobs));
  shared.slowdown = shared.slowdown_over(run_alone(prediction, scenario));
  const Seconds alone = prediction.iteration_time;
  prediction.iteration_time = shared.slowdown * alone;
  prediction.breakdown[Cause::straggler_wait] += prediction.iteration_time - alone;
  for (double* of_draws : times_of_draws(prediction)) *of_draws *= shared.slowdown;
  Interval& measured = prediction.confidence.with_measured_step;
  measured = {shared.slowdown * measured.low, shared.slowdown * measured.high};
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
  const std::string& family = scenario.strategy->kernel_family;
  const PublishedSteps& software = profile.kernel_families.at(family).published_steps;
  const PublishedSteps& accelerator = profile.published_steps;
  const bool is_measured = profile.kind == "measured";
  const ErrorTraits traits = error_traits(scenario.model, *scenario.strategy);
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

/// The breakdown of the stage that limits the replica that ends last. What the order of passes
/// leaves idle is told from what slowness adds to it, so that both are the same whoever happens to
/// be last; where nobody is slow, what is waited for beyond it is waited for because of the
/// network. Workers that are not in step have no last one: of these it is that of the average one.
TimeByCause breakdown_of(const Scenario& scenario, const JobRun& run, std::int32_t last) {
  if (run.workload.is_out_of_step()) return run.timeline.average_worker;
  const bool has_servers = !run.workload.servers.empty();
  const std::int32_t group = has_servers ? last : busiest_group(run.workload, last);
  TimeByCause time =
      with_slow_link_loss(group_breakdown(run.workload, run.timeline, group), scenario, run, group);
  if (has_servers) return time;
  Seconds idle = nominal_waiting(run.workload, scenario.cluster->topology, group);
  if (scenario.perturbation.none()) idle = max(idle, time[Cause::pipeline_bubble]);
  settle_waiting(time, idle);
  return time;
}

/// Whether runs of earlier scenarios may be this one's.
bool is_remembered(const Scenario& scenario, const SimulateOptions& options) {
  return options.memory != nullptr && scenario.anchors.empty();
}

/// What the draws come to, and how sure that is.
void add_times(Prediction& prediction, const Scenario& scenario, const JobRun& run,
               const std::optional<AppliedAnchors>& anchors) {
  prediction.iteration_time = run.time();
  prediction.replicas = static_cast<int>(run.times.size());
  prediction.replica_time = percentiles_of(run.times);
  prediction.iteration_interval = interval_of(run, scenario, anchors);
  prediction.confidence = confidence_of(scenario, run, prediction.iteration_interval);
  prediction.counts = run.timeline.counts;
}

/// The job as its steps work it off: gradients of backups are not part of a step.
Strategy worked_off(const Strategy& strategy, const Workload& workload) {
  Strategy counted = strategy;
  const std::int64_t quorum = workload.servers.empty() ? 0 : workload.serving.quorum;
  if (quorum > 0) {
    counted.global_batch = counted.global_batch * quorum / std::ssize(workload.groups);
  }
  return counted;
}

/// Where the time goes in the median draw.
void add_use(Prediction& prediction, const Scenario& scenario, const JobRun& run) {
  const Topology& topology = scenario.cluster->topology;
  if (scenario.cluster->kinds() > 1) {
    prediction.accelerator_kinds = kind_use(scenario, run, prediction.memory);
  }
  const std::int32_t group = critical_group(run.workload, run.timeline);
  if (!run.workload.is_out_of_step()) {
    prediction.critical_rank = group_name(run.workload, group);
  }
  prediction.breakdown = breakdown_of(scenario, run, group);
  if (prediction.input) prediction.breakdown[Cause::data_loading] += prediction.input->stalled;
  prediction.critical_path = critical_path(run.workload, run.timeline);
  prediction.busiest_links = busiest_links(run.workload, run.timeline, topology, kListedLinks,
                                           scenario.perturbation.link_episodes);
  prediction.fabric =
      fabric_use(run.workload, run.timeline, topology, scenario.perturbation.link_episodes);
}

/// What is reckoned from the length of a step.
void add_consequences(Prediction& prediction, const Scenario& scenario) {
  if (scenario.reliability) {
    prediction.reliability = reliability(scenario, prediction.iteration_time, prediction.input);
  }
  if (scenario.post_training) {
    prediction.post_training =
        post_training(scenario, prediction.iteration_time, prediction.breakdown);
    prediction.warnings.emplace_back(kGeneratingEvidence);
  }
}

/// A step of the reference, with what it waits for its samples. Its accelerators are as fast as
/// most of the job's, whichever of these are listed as slow, and its cables as they should be.
Seconds step_of_reference(const Scenario& scenario, const Strategy& reference,
                          const Workload& workload, const SimulateOptions& options) {
  const auto alone = [&](const Scenario& job) {
    return job_time(job, reference, job.run.replicas, options.jobs, options.draws_elsewhere);
  };
  Seconds iteration;
  if (!scenario.perturbation.slow_accelerators.empty() ||
      !scenario.perturbation.link_episodes.empty()) {
    Scenario typical = scenario;
    typical.perturbation =
        without_listed_slowness(scenario.perturbation, accelerators_of(workload));
    typical.perturbation.link_episodes.clear();
    iteration = alone(typical);
  } else if (is_remembered(scenario, options)) {
    iteration = options.memory->run(scenario, reference, options.jobs).time();
  } else {
    iteration = alone(scenario);
  }
  if (!scenario.input) return iteration;
  return iteration + input_use(scenario, reference, iteration, options.jobs).stalled;
}

Simulation simulated(const Scenario& asked, const SimulateOptions& options) {
  Scenario scenario = asked;
  Simulation simulation;
  Prediction& prediction = simulation.prediction;
  prediction.question = question_of(scenario, options.command_line);
  check_passes(*scenario.strategy);
  prediction.memory = predicted_memory(scenario, *scenario.strategy);
  prediction.not_modelled = left_out_of(scenario);
  if (!prediction.memory.fits && !options.even_if_it_does_not_fit) return simulation;

  // Read first: a wrong --reference must not cost a simulation.
  std::optional<Strategy> reference;
  if (options.scaling) reference = reference_strategy(scenario, options.reference_accelerators);

  std::optional<AppliedAnchors> anchors;
  if (!scenario.anchors.empty()) {
    anchors = apply_anchors(scenario, options.jobs, options.draws_elsewhere);
    prediction.anchor = anchors->effect;
  }
  JobRun run = is_remembered(scenario, options)
                   ? options.memory->run(scenario, *scenario.strategy, options.jobs)
                   : run_job(scenario, *scenario.strategy, scenario.run.replicas, options.jobs,
                             options.draws_elsewhere, options.first_draw);
  add_times(prediction, scenario, run, anchors);
  if (scenario.input) add_input(prediction, scenario, options.jobs);
  if (!run.workload.servers.empty()) {
    prediction.servers = server_use(run.workload, run.timeline);
  }
  const Strategy counted = worked_off(*scenario.strategy, run.workload);
  set_speed(prediction, scenario.model, counted, mean_peak(scenario));
  add_use(prediction, scenario, run);
  if (scenario.statistics) {
    prediction.statistics = steps_to_target(
        *scenario.statistics, updates_of_step(counted, prediction.servers, *scenario.strategy));
  }
  const Seconds alone = prediction.iteration_time;
  if (!scenario.jobs.empty()) {
    add_company(prediction, scenario, options.jobs);
    set_speed(prediction, scenario.model, counted, mean_peak(scenario));
  }
  std::vector<std::string> notes = run.workload.notes;
  const auto of_question = std::ranges::stable_partition(
      notes, [](const std::string& note) { return !is_about_what_was_asked(note); });
  std::ranges::move(of_question, std::back_inserter(prediction.warnings));
  prediction.not_modelled.insert(prediction.not_modelled.begin(), notes.begin(),
                                 of_question.begin());
  add_warnings(prediction, scenario, run);
  add_ahead_warning(prediction, run);
  if (anchors) std::ranges::move(anchors->warnings, std::back_inserter(prediction.warnings));
  add_consequences(prediction, scenario);
  if (options.what_if != WhatIfExtent::none) {
    prediction.what_if = what_if(scenario, run, options.jobs, options.what_if);
  }
  simulation.workload = std::move(run.workload);
  if (reference) {
    const bool is_itself = reference->data_parallel == scenario.strategy->data_parallel;
    prediction.scaling = scaling_against(
        *reference,
        is_itself ? alone : step_of_reference(scenario, *reference, simulation.workload, options),
        alone);
  }
  simulation.timeline = std::move(run.timeline);
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
  const bool names_slowness = scenario.perturbation.lists_slowness() || has_faults(scenario);
  if (options.what_if == WhatIfExtent::none && names_slowness) {
    options.what_if = WhatIfExtent::stragglers;
  }
  Simulation simulation = simulate(scenario, options);
  Prediction& prediction = simulation.prediction;
  prediction.activity =
      activity_of(simulation.workload, simulation.timeline, prediction.critical_path);
  return simulation;
}

}  // namespace headway
