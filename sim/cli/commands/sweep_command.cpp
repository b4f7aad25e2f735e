#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "sim/base/join_words.h"
#include "sim/base/shell_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/sweep/sweep.h"

namespace headway {
namespace {

struct SweepRequest {
  std::string path;
  ScenarioOptions scenario;
  std::vector<Axis> axes;
  SweepOptions options;
  std::vector<OutputFile> reports;
};

/// What -o names is a report if it has the suffix of one, else the folder of the store.
void read_outputs(const Arguments& arguments, SweepRequest& request, Diagnostics& diagnostics) {
  const std::vector<std::string> suffixes = answer_suffixes();
  std::vector<std::string> folders;
  for (const std::string& path : arguments.values("output")) {
    const bool is_report = std::ranges::find(suffixes, suffix_of(path)) != suffixes.end();
    if (is_report && !std::filesystem::is_directory(path)) {
      request.reports.push_back({"-o", path});
    } else {
      folders.push_back(path);
    }
  }
  check_outputs(request.reports, diagnostics);
  check_outputs_spare(request.reports, {request.path}, diagnostics);
  if (folders.size() == 1) {
    request.options.folder = folders.front();
  } else if (folders.empty()) {
    diagnostics.add({.message = "a sweep needs a folder for its store", .help = "add -o DIR"});
  } else {
    diagnostics.add({.message = fmt::format("a sweep has one folder for its store, not {} and {}",
                                            folders[0], folders[1]),
                     .help = fmt::format("a report ends in {}", join_words(suffixes, " or "))});
  }
}

SweepRequest sweep_request_of(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  SweepRequest request;
  request.path = arguments.positional().front();
  request.scenario = scenario_options_of(arguments, diagnostics);
  request.axes = parse_axes(arguments.values("axis"), diagnostics);
  if (request.axes.empty()) {
    diagnostics.add({.message = "a sweep needs an axis",
                     .help = "--axis gpus=8..1024*2, for example; `headway sweep -h` shows more"});
  }
  read_outputs(arguments, request, diagnostics);
  diagnostics.throw_if_errors();
  if (const auto shard = arguments.value("shard")) request.options.shard = parse_shard(*shard);
  request.options.jobs = jobs_of(arguments);
  request.options.command_line =
      invocation.reproducing_line() + " -o " + shell_quoted(request.options.folder.string());
  return request;
}

SweepJob job_of(const SweepRequest& request, Terminal* terminal) {
  Diagnostics diagnostics;
  SweepJob job = read_sweep_job(request.path, request.scenario, request.axes, diagnostics);
  if (terminal != nullptr) show_warnings(diagnostics, *terminal);
  return job;
}

int show_plan(const SweepJob& job, const SweepRequest& request, const Invocation& invocation) {
  const std::vector<SweepPoint> points = planned_points(job, request.options);
  const std::int64_t all = point_count(job.axes);
  give(sweep_plan_answer(points, all), request.reports, invocation);
  return kExitDone;
}

int run_all(const SweepJob& job, SweepRequest& request, const Invocation& invocation) {
  Terminal& terminal = invocation.terminal;
  const When when = progress_of(invocation.arguments);
  Progress progress(terminal, when, fmt::format("sweeping over {}", job.base.name));
  const std::filesystem::path store = request.options.folder / kStoreFile;
  std::optional<std::int64_t> kept_before;
  request.options.progress = [&](const SweepSummary& so_far) {
    const std::int64_t kept = so_far.kept();
    if (!kept_before) kept_before = kept;
    progress.update(static_cast<std::size_t>(kept + so_far.failed - *kept_before),
                    static_cast<std::size_t>(so_far.points - *kept_before));
    if (kept == 0) return;
    keep_on_interrupt(fmt::format("{} of {} points are kept in {}", kept, so_far.points,
                                  printable(store.string())));
  };
  const SweepSummary summary = run_sweep(job, request.options);
  progress.finish();
  give(sweep_answer(summary, request.options.folder), request.reports, invocation);
  return summary.failed == 0 && summary.has_simulated ? kExitDone : kExitNegative;
}

int run_sweep_command(const Invocation& invocation) {
  std::optional<MpiCrew> crew;
  if (MpiCrew::is_called_for()) crew.emplace();
  if (crew && !crew->leads()) {
    follow_sweep(*crew, [&] { return job_of(sweep_request_of(invocation), nullptr); });
    return kExitDone;
  }
  SweepRequest request = sweep_request_of(invocation);
  const bool is_dry = invocation.arguments.has("dry-run");
  if (crew && (is_dry || invocation.arguments.has("jobs"))) {
    refuse(
        fmt::format("--{} does not go with several processes", is_dry ? "dry-run" : "jobs"),
        "each process that mpirun starts does one point at a time, but for the first, which hands "
        "them out");
  }
  if (crew) request.options.crew = &*crew;
  const SweepJob job = job_of(request, &invocation.terminal);
  return is_dry ? show_plan(job, request, invocation) : run_all(job, request, invocation);
}

}  // namespace

Command sweep_command() {
  Command command;
  command.name = "sweep";
  command.group = "Predict";
  command.arguments = "SCENARIO";
  command.summary = "many points of a scenario, stored and resumable";
  command.about =
      "Predicts a scenario at every combination of some values, and keeps each point in the store "
      "DIR/sweep.db, a twentieth of a second of work behind at most. Running the same command "
      "again does only what is missing.";
  command.examples = {
      {"headway sweep llama3_8b_64 --axis gpus=8..256*2 --axis micro_batch=1,2 -o s",
       "twelve points, from one node to 32"},
      {"headway sweep my.json --axis gpus_weak=8..4096*2 --shard 0/16 -o part0",
       "the batch grows with the cluster; one of sixteen parts"},
  };
  command.options = with_standard_options({
      {.name = "axis",
       .value = "NAME=VALUES",
       .help = "what changes: a,b,c or LO..HI*FACTOR or LO..HI+STEP",
       .group = OptionGroup::input,
       .repeatable = true,
       .changes_result = true},
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      replicas_option(),
      seed_option(),
      {.name = "shard",
       .value = "I/N",
       .fallback = "0/1",
       .help = "every N-th point from the I-th on, for job arrays",
       .group = OptionGroup::run},
      {.name = "dry-run",
       .help = "shows what would be done; simulates nothing",
       .group = OptionGroup::run},
      jobs_option(),
      json_option(),
      {.name = "output",
       .letter = 'o',
       .value = "DIR",
       .help = "folder of the store; by suffix reports: .html, .md, .csv, .json",
       .group = OptionGroup::output,
       .repeatable = true},
      progress_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was swept";
  command.details =
      "An axis is a field of the strategy (micro_batch), the JSON pointer of any field "
      "(/cluster/topology/node/nics/bandwidth), or gpus, gpus_weak or nodes. gpus and nodes change "
      "the number of nodes and keep the global batch (strong scaling); with gpus_weak it grows "
      "with data_parallel (weak scaling). Where an axis changes the cluster or a degree, "
      "data_parallel becomes what the other degrees leave of the cluster. Combinations that cannot "
      "be are stored as refused, with the reason; jobs that do not fit as does_not_fit. A point "
      "that failed (its process was killed, say) is tried again by the next run, and the exit code "
      "is 1 while there are any, or where no point could be simulated. Values with commas are "
      "given as one JSON array: --axis '/strategy/layers_per_stage=[[3,5],[4,4]]'. The answer "
      "names the best point for what the scenario is about: the cost of the run where it has a "
      "price, the time to train where it has tokens, the goodput where something fails, else the "
      "throughput; and of /reliability/spare_nodes=0..32+4, gpus or nodes the fewest within 1 % of "
      "it. More values may be added to the axes of a store later. In a Slurm array, --shard "
      "$SLURM_ARRAY_TASK_ID/16 with a folder for each task; under mpirun or srun the first process "
      "writes and hands out points. The store is SQLite: sqlite3 DIR/sweep.db 'select axes, "
      "iteration_time_s from points'.";
  command.run = run_sweep_command;
  return command;
}

}  // namespace headway
