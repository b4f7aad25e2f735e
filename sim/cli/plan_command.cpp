#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/jobs.h"
#include "sim/cli/json_output.h"
#include "sim/cli/plan_report.h"
#include "sim/cli/progress.h"
#include "sim/cli/scenario_options.h"
#include "sim/study/plan/strategy_plan.h"

namespace headway {
namespace {

constexpr std::int64_t kMostLeaders = 1000;

StrategyPlanOptions options_of(const Arguments& arguments, Diagnostics& diagnostics) {
  StrategyPlanOptions options;
  options.leaders.path = arguments.positional().front();
  options.leaders.options = scenario_options_of(arguments, diagnostics);
  options.leaders.jobs = jobs_of(arguments);
  options.leaders.best =
      static_cast<std::size_t>(arguments.integer("best", 1, kMostLeaders).value_or(10));
  for (const std::string& field : arguments.values("keep")) options.kept.insert(field);
  return options;
}

/// How fast strategies were judged; it differs from run to run, so it is no part of the result.
std::string rate_text(const StrategyPlan& plan) {
  return fmt::format(
      "judged {} strategies in {} of one core: {} a second\n",
      grouped_digits(plan.search.counts.considered), duration_text(plan.search_cpu_seconds),
      grouped_digits(static_cast<long long>(static_cast<double>(plan.search.counts.considered) /
                                            plan.search_cpu_seconds)));
}

int run_plan(const Invocation& invocation) {
  Terminal& terminal = invocation.terminal;
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const StrategyPlanOptions options = options_of(arguments, diagnostics);
  diagnostics.throw_if_errors();
  Progress progress(terminal, when_named(arguments.value("progress").value_or("auto")),
                    "searching strategies of " + options.leaders.path);
  const StrategyPlan plan = plan_strategy(options, diagnostics);
  progress.finish();
  show_warnings(diagnostics, terminal);
  terminal.remark(rate_text(plan));
  terminal.print(arguments.has("json") ? json_document_text(strategy_plan_json(plan))
                                       : strategy_plan_text(plan));
  return plan.leaders.empty() ? kExitNegative : kExitDone;
}

}  // namespace

Command plan_command() {
  Command command;
  command.name = "plan";
  command.group = "Predict";
  command.arguments = "SCENARIO";
  command.summary = "the best strategy on a cluster, and why others lose";
  command.about =
      "Finds the fastest ways to split a scenario's job over its cluster: every combination of "
      "degrees, schedule, virtual stages, micro-batch, sharding and recomputation is judged, the "
      "leaders are simulated.";
  command.examples = {
      {"headway plan llama3_8b_64", "the ten best strategies on its eight nodes"},
      {"headway plan my.json --keep schedule --keep micro_batch -v",
       "with two fields as the scenario has them"},
  };
  command.options = with_standard_options({
      {.name = "keep",
       .value = "FIELD",
       .help = "a searched field that stays as it is",
       .group = OptionGroup::input,
       .repeatable = true,
       .changes_result = true},
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      replicas_option(),
      seed_option(),
      {.name = "best",
       .value = "N",
       .fallback = "10",
       .help = "leaders to simulate and list",
       .group = OptionGroup::run,
       .changes_result = true},
      jobs_option(),
      json_option(),
      progress_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was planned";
  command.details =
      "Searched are tensor_parallel, context_parallel, pipeline_parallel, expert_parallel, "
      "virtual_stages, schedule, micro_batch, zero_stage and recompute; data_parallel is what they "
      "leave of the cluster. Everything else stays as the scenario has it. Each strategy has a "
      "lower bound of its time; in the order of these, memory is judged and the closed form worked "
      "out, until the bounds are above the N-th best time found: no other can be among the N best "
      "in the closed form. The leaders are then simulated on the fabric, N at least and more until "
      "the order is settled. The list also has the fastest that leave a quarter and half of the "
      "memory free, if they take no more than 1.5 times as long. If nothing fits, the answer says "
      "what comes closest and how many GPUs would do, and the exit code is 1. -v tells how fast "
      "strategies were judged.";
  command.run = run_plan;
  return command;
}

}  // namespace headway
