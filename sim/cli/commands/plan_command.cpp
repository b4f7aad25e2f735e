#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "reports/answers/answers.h"
#include "reports/answers/strategy_plan.h"
#include "reports/write_file.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/launch_outputs.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/files/json_output.h"
#include "sim/plan/plan_question.h"
#include "sim/plan/planned_scenario.h"

namespace headway {
namespace {

struct PlanRequest {
  PlanQuestion question;
  std::vector<OutputFile> outputs;
  LaunchOptions launch;
};

PlanRequest plan_request_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  PlanRequest request;
  PlanOptions options;
  options.leaders.path = arguments.positional().front();
  options.leaders.options = scenario_options_of(arguments, diagnostics);
  options.leaders.jobs = jobs_of(arguments);
  for (const std::string& field : arguments.values("keep")) options.kept.insert(field);
  request.launch = launch_options_of(arguments, diagnostics);
  options.framework = request.launch.framework;
  request.outputs = plan_files(arguments, options.leaders.path, diagnostics);
  request.question = read_plan_question(std::move(options), arguments.value("goal"),
                                        arguments.integer("best", 1, kMostLeaders), diagnostics);
  if (std::ranges::any_of(request.outputs, is_launch_file, &OutputFile::path)) {
    PlanOptions planned = request.question.options;
    Diagnostics told_by_the_plan;
    check_launch(read_planned(planned, PlannedCluster::as_given, told_by_the_plan).resolved,
                 request.launch, request.outputs);
  }
  return request;
}

/// Writes and prints the plan, but for .json: there the answer goes as a scenario, which
/// `headway simulate` takes. `best` is that answer, if there is one.
int give_plan(const Answer& plan, const Leader* best, const PlanRequest& request,
              const Invocation& invocation) {
  Terminal& terminal = invocation.terminal;
  std::vector<OutputFile> reports;
  const auto write_scenarios = [&] {
    for (const OutputFile& file : request.outputs) {
      const bool starts_job = is_launch_file(file.path);
      if (suffix_of(file.path) != ".json" && !starts_job) {
        reports.push_back(file);
      } else if (best == nullptr) {
        terminal.narrate(fmt::format("there is no answer to write to {}\n", file.path));
      } else if (starts_job) {
        write_launch_file(best->prediction.question.scenario, request.launch, file.path, terminal);
      } else {
        write_file(file.path, json_document_text(best->prediction.question.scenario));
        terminal.remark(fmt::format("wrote {}\n", file.path));
      }
    }
  };
  write_then_print(write_scenarios, [&] { give(plan, reports, invocation); });
  return best == nullptr ? kExitNegative : kExitDone;
}

/// What is wrong with the input the first process tells, and hands out nothing.
void follow_planner(MpiCrew& crew, const Arguments& arguments) {
  ScenarioOptions options;
  try {
    Diagnostics told_by_the_leader;
    options = scenario_options_of(arguments, told_by_the_leader);
  } catch (const InputError&) {
    options = {};
  }
  follow_plan(crew, arguments.positional().front(), options);
}

/// Each closed form takes a few megabytes for its programs and frees them, and each draw of a
/// leader tens of them for its timeline, which by default costs a page fault for every four
/// kibibytes each time. Those who simulate leaders inherit it.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  constexpr int kKept = 256 << 20;    // bytes at the end of the heap
  constexpr int kAskedFor = 4 << 20;  // at a time
  constexpr int kApart = 32 << 20;    // blocks that are given back by themselves, from that size on
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kApart);
  mallopt(M_TOP_PAD, kAskedFor);
#endif
}

int run_plan(const Invocation& invocation) {
  keep_freed_memory();
  Terminal& terminal = invocation.terminal;
  const Arguments& arguments = invocation.arguments;
  std::optional<MpiCrew> crew;
  if (MpiCrew::is_called_for()) crew.emplace();
  if (crew && !crew->leads()) {
    follow_planner(*crew, arguments);
    return kExitDone;
  }
  PlanRequest request = plan_request_of(arguments);
  LeaderOptions& leaders = request.question.options.leaders;
  if (crew) leaders.crew = &*crew;
  Progress progress(terminal, progress_of(arguments), "planning " + leaders.path);
  leaders.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  Diagnostics diagnostics;
  const Plan plan = planned(request.question, diagnostics);
  if (const auto* const strategy = std::get_if<StrategyPlan>(&plan)) {
    terminal.remark(rate_text(*strategy));
  }
  progress.finish();
  show_warnings(diagnostics, terminal);
  return give_plan(plan_answer(plan), best_of(plan), request, invocation);
}

}  // namespace

Command plan_command() {
  Command command;
  command.name = "plan";
  command.group = "Predict";
  command.arguments = "SCENARIO";
  command.summary = "the best strategy, or the cluster that a goal needs";
  command.about =
      "Finds the fastest ways to split a scenario's job over its cluster: every combination of "
      "degrees, schedule, virtual stages, micro-batch, sharding and recomputation is judged, the "
      "leaders are simulated. With a goal, the cluster's size is searched too.";
  command.examples = {
      {"headway plan llama3_70b_30_days --goal tokens=2T,deadline=30d",
       "the fewest GPUs that train so much in time"},
      {"headway plan buy_70b_90_days -o buy.html",
       "which of three clusters to buy, how many, and what the others lack"},
  };
  command.options = with_standard_options({
      {.name = "goal",
       .value = "WORDS",
       .help = "tokens=2T,deadline=30d or largest=context",
       .group = OptionGroup::input,
       .changes_result = true},
      {.name = "keep",
       .value = "FIELD",
       .help = "a searched field that stays as it is",
       .group = OptionGroup::input,
       .repeatable = true,
       .changes_result = true},
      {.name = "framework",
       .value = "NAME",
       .fallback = "any; the preset's in files",
       .help = "plans what it has settings for; whose they are in .sh and .yaml files",
       .group = OptionGroup::input,
       .changes_result = true,
       .words = words_of<LaunchFramework>()},
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      replicas_option(),
      seed_option(),
      {.name = "best",
       .value = "N",
       .fallback = "10; 1 with largest",
       .help = "leaders to simulate and list",
       .group = OptionGroup::run,
       .changes_result = true},
      jobs_option(),
      json_option(),
      {.name = "output",
       .letter = 'o',
       .value = "FILE",
       .help = "by suffix: .html, .md, .csv; .json: a scenario; .sh, .yaml: what starts it",
       .group = OptionGroup::output,
       .repeatable = true},
      {.name = "manifest",
       .value = "KIND",
       .fallback = "mpijob for horovod, else pytorchjob",
       .help = "what a .yaml file is",
       .group = OptionGroup::output,
       .words = words_of<JobManifest>()},
      progress_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was planned";
  command.details =
      "Searched are tensor_parallel, context_parallel, pipeline_parallel, expert_parallel, "
      "virtual_stages, schedule, micro_batch, zero_stage and recompute; data_parallel is what they "
      "leave of the cluster. Everything else stays as the scenario has it, where it divides: "
      "layers of "
      "stages too, which else are equal, or by the speed of the nodes where these are unlike. Each "
      "strategy has a "
      "lower bound of its time; in the order of these, memory is judged and the closed form worked "
      "out, until the bounds are above the N-th best time found: no other can be among the N best "
      "in the closed form. The leaders are then simulated on the fabric, N at least and more until "
      "the order is settled. The list also has the fastest that leave a quarter and half of the "
      "memory free, if they take no more than 1.5 times as long. If nothing fits, the answer says "
      "what comes closest and how many GPUs would do, and the exit code is 1. "
      "With --goal 'tokens=2T deadline=30d probability=95%' it is the fewest GPUs of this kind and "
      "fabric on which so many tokens are trained by then, in whole scale-up domains: failures and "
      "checkpoints count as the scenario's reliability has them, stragglers as its perturbations "
      "do, and the margin is that of the prediction's interval. budget=50M and power=2MW are what "
      "may have been paid by then, at the 95th percentile, and what the building supplies; "
      "minimize=cost, energy or days asks for the cluster that takes least of it instead of the "
      "fewest GPUs; batch_within=5% lets the global batch be off by so much, for more sizes to "
      "divide it. If none meets it, the answer says what each lacks, and the exit code is 1. "
      "A scenario may have the goal itself (\"goal\"), and \"candidates\" of which one is taken: "
      "other topologies, profiles, prices and powers, each bought in its own deliveries. "
      "--goal largest=model looks for the largest model of the library that fits on the cluster, "
      "of "
      "those that train on tokens as the scenario's does, or on samples; "
      "largest=width, largest=layers and largest=context for how far this one can grow. -v tells "
      "how fast strategies were judged. Under mpirun or srun the first process searches, and the "
      "others simulate the leaders. A .sh file is the answer as Megatron-LM, torchtitan, "
      "DeepSpeed or Horovod is told it, a .yaml file the same for Kubernetes; what a framework has "
      "no setting for is said there and here (`headway list flags`), and with --framework not "
      "searched.";
  command.run = run_plan;
  return command;
}

}  // namespace headway
