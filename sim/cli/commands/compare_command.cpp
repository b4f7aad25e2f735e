#include "reports/answers/answers.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/predict/compare.h"

namespace headway {
namespace {

int run_compare(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics diagnostics;
  const ScenarioOptions options = scenario_options_of(arguments, diagnostics);
  const std::vector<OutputFile> files =
      answer_files(arguments, arguments.positional(), diagnostics);
  diagnostics.throw_if_errors();
  const ComparedInput a = read_compared(arguments.positional()[0], options, diagnostics);
  const ComparedInput b = read_compared(arguments.positional()[1], options, diagnostics);
  show_warnings(diagnostics, terminal);

  const When when = when_named(arguments.value("progress").value_or("auto"));
  Progress progress(terminal, when, "comparing");
  const Comparison comparison =
      compare(a, b, jobs_of(arguments),
              [&](std::size_t done, std::size_t of) { progress.update(done, of); });
  progress.finish();
  give(comparison_answer(comparison), files, invocation);
  return kExitDone;
}

}  // namespace

Command compare_command() {
  Command command;
  command.name = "compare";
  command.group = "Predict";
  command.arguments = "A B";
  command.summary = "what changed between two jobs, and which input did it";
  command.about =
      "Tells what differs in the inputs of two jobs, what in their results, and which input makes "
      "which part of the difference. A and B are scenarios or results.";
  command.examples = {
      {"headway compare before.json after.json", "two results, or two scenarios"},
      {"headway compare llama3_8b_64 my.json -o why.html", "the same as a page"},
  };
  command.options = with_standard_options({
      set_option("/run/replicas=1"),
      profile_option(),
      replicas_option(),
      seed_option(),
      jobs_option(),
      json_option(),
      output_option(),
      progress_option(),
  });
  command.least_arguments = 2;
  command.most_arguments = 2;
  command.outcome = "nothing was compared";
  command.details =
      "Both are simulated, a result from the resolved scenario in it. Then one change of the input "
      "after another leads from A to B, the greatest first; each is also tried alone on A and "
      "last, with all others made. Where these differ, changes work together. Changes that make "
      "no valid scenario one by one, such as degrees whose product is the number of GPUs, are made "
      "together. --set, --profile, --replicas and --seed hold for scenarios, not for results. Jobs "
      "that do not fit in memory are simulated all the same.";
  command.run = run_compare;
  return command;
}

}  // namespace headway
