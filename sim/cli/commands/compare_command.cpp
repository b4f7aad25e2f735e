#include "reports/answers/answers.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/predict/compare.h"

namespace headway {
namespace {

/// What is changed of A: nothing where B is the same scenario, which would differ in nothing then.
ScenarioOptions options_of_first(const Arguments& arguments, const ScenarioOptions& options) {
  ScenarioOptions first = options;
  if (arguments.positional()[0] == arguments.positional()[1]) {
    first.overrides.clear();
    first.profile.reset();
  }
  return first;
}

int run_compare(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics diagnostics;
  const ScenarioOptions options = scenario_options_of(arguments, diagnostics);
  const std::vector<OutputFile> files =
      answer_files(arguments, arguments.positional(), diagnostics);
  diagnostics.throw_if_errors();
  const ComparedInput a =
      read_compared(arguments.positional()[0], options_of_first(arguments, options), diagnostics);
  const ComparedInput b = read_compared(arguments.positional()[1], options, diagnostics);
  show_warnings(diagnostics, terminal);

  const When when = progress_of(arguments);
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
      {"headway compare my.json my.json --set /strategy/precision=fp8 -o why.html",
       "one scenario, as it is and changed, as a page"},
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
      "together. --set, --profile, --replicas and --seed hold for scenarios, not for results; "
      "where A and B are the same scenario, --set and --profile change B alone. Jobs that do not "
      "fit in memory "
      "are simulated all the same.";
  command.run = run_compare;
  return command;
}

}  // namespace headway
