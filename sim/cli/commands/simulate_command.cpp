#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reports/answers/answers.h"
#include "reports/trace/trace.h"
#include "reports/write_file.h"
#include "sim/base/byte_stream.h"
#include "sim/base/child_process.h"
#include "sim/base/fingerprint.h"
#include "sim/base/quantity_text.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/plan/open_choices.h"
#include "sim/predict/simulate.h"
#include "sim/sweep/mpi_crew.h"

namespace headway {
namespace {

constexpr std::int64_t kMostAccelerators = 1 << 30;

/// What the command line asks for, checked as far as it goes without the scenario.
struct SimulateRequest {
  std::string path;
  ScenarioOptions scenario;
  SimulateOptions simulate;
  std::vector<OutputFile> reports;
  std::optional<std::string> trace;
  When progress = When::automatic;

  [[nodiscard]] std::vector<OutputFile> outputs() const {
    std::vector<OutputFile> all = reports;
    if (trace) all.push_back({"--trace", *trace});
    return all;
  }
};

SimulateRequest simulate_request_of(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  SimulateRequest request;
  Diagnostics diagnostics;
  request.path = arguments.positional().front();
  request.scenario = scenario_options_of(arguments, diagnostics);
  request.simulate.jobs = jobs_of(arguments);
  request.simulate.command_line = invocation.reproducing_line();
  if (const auto gpus = arguments.integer("reference", 1, kMostAccelerators)) {
    request.simulate.reference_accelerators = static_cast<int>(*gpus);
  }
  request.simulate.even_if_it_does_not_fit = arguments.has("even-if-it-does-not-fit");
  if (arguments.has("what-if")) request.simulate.what_if = WhatIfExtent::everything;
  request.progress = progress_of(arguments);
  request.reports = report_files(arguments.values("output"), answer_suffixes(), diagnostics);
  request.trace = arguments.value("trace");
  check_outputs(request.outputs(), diagnostics);
  check_outputs_spare(request.outputs(), {request.path}, diagnostics);
  diagnostics.throw_if_errors();
  return request;
}

Scenario scenario_of(const SimulateRequest& request, const Invocation& invocation) {
  Diagnostics diagnostics;
  Scenario scenario = read_scenario(request.path, request.scenario, diagnostics);
  invocation.scenario_fingerprint = fingerprint_text(scenario.resolved->dump());
  std::vector<std::string> inputs;
  for (const nlohmann::json& file : *scenario.files) {
    inputs.push_back(file.at("path").get<std::string>());
    invocation.terminal.remark(
        fmt::format("read {} ({})\n", inputs.back(), file.at("fingerprint").get<std::string>()));
  }
  check_outputs_spare(request.outputs(), inputs, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  return scenario;
}

Simulation simulation_of(const Scenario& scenario, const SimulateRequest& request,
                         Terminal& terminal) {
  const std::string what =
      fmt::format("simulating {} on {}", scenario.name, counted(scenario.accelerators(), "GPU"));
  // A single point says nothing while it runs, which is worth a line to people only.
  const bool is_unasked = request.progress == When::automatic && !terminal.errors_are_seen();
  Progress progress(terminal, is_unasked ? When::never : request.progress, what);
  Simulation simulation = simulate_in_full(scenario, request.simulate);
  progress.finish();
  return simulation;
}

void write_trace_of(const Simulation& simulation, const std::string& path, Terminal& terminal) {
  if (simulation.prediction.iteration_time == Seconds(0.0)) {
    terminal.narrate("the job does not fit in memory, so there is no trace of it\n");
    return;
  }
  const std::int64_t events = trace_event_count(simulation.workload, simulation.timeline);
  const auto bytes = Bytes(static_cast<double>(events * kTraceBytesPerEvent));
  terminal.narrate(fmt::format("writing {}: {} events, about {}\n", path, grouped_digits(events),
                               short_text(bytes)));
  write_file(path, [&](std::ostream& stream) {
    write_trace(stream, simulation.workload, simulation.timeline);
  });
}

/// Draws by the processes that mpirun started, each of which reads the scenario.
DrawsElsewhere draws_by(MpiCrew& crew) {
  return [&crew](const std::vector<DrawOfJob>& draws) {
    std::vector<double> lengths(draws.size());
    const auto text = [&](std::size_t number) {
      ByteWriter bytes;
      bytes.put(draws[number]);
      return bytes.take();
    };
    crew.lead(draws.size(), text, [&](std::size_t number, ChildOutcome& outcome) {
      const std::string answer = output_or_throw(std::move(outcome));
      ByteReader(answer).get(lengths[number]);
    });
    return lengths;
  };
}

/// What is wrong with the input the first process tells, and hands out nothing.
void follow_simulation(MpiCrew& crew, const Arguments& arguments) {
  std::optional<Scenario> scenario;
  try {
    Diagnostics told_by_the_leader;
    scenario =
        read_scenario(arguments.positional().front(),
                      scenario_options_of(arguments, told_by_the_leader), told_by_the_leader);
  } catch (const InputError&) {
    scenario.reset();
  }
  crew.follow([&](const std::string& task) {
    if (!scenario) throw EnvironmentError("the first process read a scenario that this one cannot");
    DrawOfJob draw;
    ByteReader(task).get(draw);
    ByteWriter bytes;
    bytes.put(draw_length(*scenario, draw));
    return bytes.take();
  });
}

int run_simulate(const Invocation& invocation) {
  Terminal& terminal = invocation.terminal;
  std::optional<MpiCrew> crew;
  if (MpiCrew::is_called_for()) crew.emplace();
  if (crew && !crew->leads()) {
    follow_simulation(*crew, invocation.arguments);
    return kExitDone;
  }
  SimulateRequest request = simulate_request_of(invocation);
  if (crew && request.path == "-") {
    refuse("standard input does not go to several processes", "write the scenario to a file");
  }
  if (crew) request.simulate.draws_elsewhere = draws_by(*crew);
  const Scenario scenario = scenario_of(request, invocation);
  Simulation simulation = simulation_of(scenario, request, terminal);
  Prediction& prediction = simulation.prediction;
  if (auto warning = mixture_warning(scenario, request.path, request.scenario)) {
    prediction.warnings.push_back(std::move(*warning));
  }
  const EngineCounts& counts = prediction.counts;
  terminal.remark(
      fmt::format("{} replica{}, {} events in the median one; {} flows, links shared "
                  "out {} times, {} flows computed anew, {} rates changed; {} forks\n",
                  prediction.replicas, prediction.replicas == 1 ? "" : "s",
                  grouped_digits(counts.events), grouped_digits(counts.flows),
                  grouped_digits(counts.settlings), grouped_digits(counts.recomputed),
                  grouped_digits(counts.changed), grouped_digits(children_forked())));
  const auto trace = [&] {
    if (request.trace) write_trace_of(simulation, *request.trace, terminal);
  };
  write_then_print(trace,
                   [&] { give(prediction_answer(prediction), request.reports, invocation); });
  return prediction.memory.fits ? kExitDone : kExitNegative;
}

}  // namespace

Command simulate_command() {
  Command command;
  command.name = "simulate";
  command.group = "Predict";
  command.arguments = "SCENARIO";
  command.summary = "time, throughput, memory, and what limits them";
  command.about =
      "Predicts one training iteration: time, throughput, memory, scaling and what limits them. "
      "SCENARIO is a file, a name of `headway list scenarios`, or - for standard input.";
  command.examples = {
      {"headway simulate llama3_405b_16384", "a scenario that ships with Headway"},
      {"headway simulate my.json --set /strategy/pipeline_parallel=8 -o result.md",
       "your own with one field changed, written as a report too"},
  };
  command.options = with_standard_options({
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      replicas_option(),
      seed_option(),
      {.name = "reference",
       .value = "GPUS",
       .fallback = "the smallest that fits",
       .help = "job that scaling is measured against",
       .group = OptionGroup::run,
       .changes_result = true},
      {.name = "what-if",
       .help = "what stragglers cost, and what would help; without it, the first where the "
               "scenario lists slow parts",
       .group = OptionGroup::run,
       .changes_result = true},
      {.name = "even-if-it-does-not-fit",
       .help = "simulates a job that is short of memory, too",
       .group = OptionGroup::run,
       .changes_result = true},
      jobs_option(),
      json_option(),
      output_option(),
      {.name = "trace",
       .value = "FILE",
       .help = "writes one iteration as a trace for Perfetto",
       .group = OptionGroup::output},
      progress_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was simulated";
  command.details =
      "A job that does not fit in memory is not simulated unless --even-if-it-does-not-fit asks "
      "for it: the report says by how much and what would help, and the exit code is 1. Fields may "
      "be set through references: --set /model/layers=8 changes the model that the scenario names. "
      "A value that is not JSON is taken as text, so a quantity needs no quotes of its own: --set "
      "/cluster/topology/node/nics/bandwidth='200 Gb/s'. Options win over --set, --set over the "
      "scenario. The same input and seed give the same bytes, whatever --jobs is. Under mpirun or "
      "srun the first process hands out --replicas to the others, one by one.";
  command.run = run_simulate;
  return command;
}

}  // namespace headway
