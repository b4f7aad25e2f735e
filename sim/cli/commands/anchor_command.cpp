#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

#include "reports/answers/answers.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/plan/open_choices.h"
#include "sim/predict/anchor.h"
#include "sim/predict/simulate.h"
#include "sim/replay/step_log.h"

namespace headway {
namespace {

/// The time that was given; nothing for a log, which is read with the scenario it is of.
std::optional<Seconds> measured_of(const Arguments& arguments, Diagnostics& diagnostics) {
  const auto text = arguments.value("measured");
  if (!text) {
    if (!arguments.has("measured-log")) {
      diagnostics.add({.message = "anchor needs --measured TIME or --measured-log FILE",
                       .help = "what one optimizer step took: --measured \"5.3 s\""});
    }
    return std::nullopt;
  }
  const ParsedQuantity<Seconds> parsed = parse_quantity<Seconds>(*text);
  if (const auto* wrong = std::get_if<QuantityProblem>(&parsed)) {
    diagnostics.add({.message = "--measured needs a time: " + wrong->problem, .help = wrong->help});
    return std::nullopt;
  }
  const Seconds measured = std::get<Seconds>(parsed);
  if (measured <= Seconds(0.0)) {
    diagnostics.add(
        {.message = fmt::format("--measured needs a time above 0, not {}", in_quotes(*text)),
         .help = "write \"5.3 s\""});
  }
  return measured;
}

/// What a step of that scenario took, by its log; says on the terminal what was found there.
Seconds logged_time(const std::string& path, const Scenario& ran, Terminal& terminal) {
  const LoggedSteps steps = read_step_log(path);
  const Seconds time = step_time(steps, ran);
  const std::string how = steps.lines == 1
                              ? "by the one line that says it"
                              : fmt::format("in the median of {} lines, the first {} left out",
                                            steps.used, steps.lines - steps.used);
  terminal.report(fmt::format("{} ({}): {} {}\n", path, steps.format, short_text(time), how));
  return time;
}

Scenario read(const std::string& path, const ScenarioOptions& options, Diagnostics& diagnostics) {
  Scenario scenario = read_scenario(path, options, diagnostics);
  if (!scenario.anchors.empty()) {
    diagnostics.add({.message = fmt::format("{} has an anchor already", path),
                     .help = "`headway simulate` applies it; take it out to give another"});
  }
  diagnostics.throw_if_errors();
  return scenario;
}

/// Why a step may have taken what nine in ten such jobs do not: words that its scenario leaves
/// open. Standard input was read already.
std::optional<std::string> reason(const AnchorEffect& anchored, const std::string& path,
                                  const ScenarioOptions& options) {
  const AnchorStep& step = anchored.steps.front();
  const double ratio = step.measured / step.predicted;
  const double time = anchored.time_without.count();
  const Interval& expected = anchored.interval_without;
  const bool is_expected = expected.low <= ratio * time && ratio * time <= expected.high;
  if (is_expected || path == "-") return {};
  return choices_sentence(open_choices(path, options), ratio);
}

/// What is predicted where it is another job than the one that ran: --for, changed by --then.
std::optional<Scenario> asked_scenario(const Arguments& arguments, const ScenarioOptions& ran,
                                       const std::vector<Override>& changes,
                                       Diagnostics& diagnostics) {
  const auto other = arguments.value("for");
  if (!other && changes.empty()) return {};
  ScenarioOptions options = other ? ScenarioOptions{} : ran;
  options.overrides.insert(options.overrides.end(), changes.begin(), changes.end());
  return read(other.value_or(arguments.positional().front()), options, diagnostics);
}

int run_anchor(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const ScenarioOptions options = scenario_options_of(arguments, diagnostics);
  const std::vector<Override> changes = overrides_of(arguments, diagnostics, "then");
  const std::optional<Seconds> measured = measured_of(arguments, diagnostics);
  const std::string log = arguments.value("measured-log").value_or("");
  const std::string& path = arguments.positional().front();
  const std::vector<OutputFile> outputs =
      answer_files(arguments, {path, arguments.value("for").value_or(""), log}, diagnostics);
  const int jobs = jobs_of(arguments);
  diagnostics.throw_if_errors();
  const Scenario ran = read(path, options, diagnostics);
  std::optional<Scenario> asked = asked_scenario(arguments, options, changes, diagnostics);
  const bool is_very_job = !asked;
  const Scenario scenario = with_anchor(
      ran, std::move(asked), measured ? *measured : logged_time(log, ran, invocation.terminal));
  show_warnings(diagnostics, invocation.terminal);

  SimulateOptions simulate_options;
  simulate_options.jobs = jobs;
  // What was measured ran, so it fitted.
  simulate_options.even_if_it_does_not_fit = is_very_job;
  simulate_options.command_line = invocation.reproducing_line();
  Prediction prediction = simulate(scenario, simulate_options).prediction;
  if (prediction.anchor) {
    if (auto why = reason(*prediction.anchor, path, options)) {
      prediction.warnings.push_back(*std::move(why));
    }
  }
  give(prediction_answer(prediction), outputs, invocation);
  return is_very_job || prediction.memory.fits ? kExitDone : kExitNegative;
}

}  // namespace

Command anchor_command() {
  Command command;
  command.name = "anchor";
  command.group = "Predict";
  command.arguments = "SCENARIO";
  command.summary = "one measured step of your run, applied to predictions";
  command.about =
      "Takes what one step of SCENARIO was measured to take as the speed of its software, and "
      "predicts with that: the same job, with --then a changed one, or with --for another.";
  command.examples = {
      {"headway anchor my.json --measured-log train.log", "where the time of its steps went"},
      {"headway anchor my.json --measured 5.3s --then /cluster/nodes=16 -o larger.md",
       "what it would take on more nodes, with the same software"},
  };
  command.options = with_standard_options({
      {.name = "measured",
       .value = "TIME",
       .help = "what one optimizer step of SCENARIO took: \"5.3 s\"",
       .group = OptionGroup::input,
       .changes_result = true},
      {.name = "measured-log",
       .value = "FILE",
       .help = "the training log of SCENARIO: median of its steps",
       .group = OptionGroup::input,
       .changes_result = true,
       .excludes = {"measured"}},
      {.name = "for",
       .value = "OTHER",
       .fallback = "SCENARIO itself",
       .help = "the scenario to predict",
       .group = OptionGroup::input,
       .changes_result = true},
      {.name = "then",
       .value = "POINTER=VALUE",
       .help = "changes what is predicted, not what was measured: /cluster/nodes=16; repeatable",
       .group = OptionGroup::input,
       .repeatable = true,
       .changes_result = true},
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      replicas_option(),
      seed_option(),
      jobs_option(),
      json_option(),
      output_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was predicted";
  command.details =
      "One factor on the times of compute, recomputation, optimizer and host is solved so that the "
      "prediction of the measured job is the measurement. The network and the shape of the "
      "pipeline stay as modelled. A time that would need kernels beyond the peak of the device is "
      "refused. With --for or --then the other job takes over what both share of it: less where "
      "kernels, pipeline, micro-batch, exchange of experts, model or release differ. The interval "
      "is what that leaves open. A log is one of Megatron-LM, Megatron-DeepSpeed, NeMo, "
      "Megatron-Bridge, "
      "torchtitan, DeepSpeed or Hugging Face, plain or gzipped; its first tenth is left out as "
      "warm-up. Of Hugging Face's it is the mean of the whole run, evaluations and checkpoints "
      "included. --set and --profile change SCENARIO, the job that was measured; --then changes "
      "OTHER, or SCENARIO as it ran. A scenario can hold the same as "
      "\"anchor\": {\"measured_iteration_time\": \"5.3 s\", \"scenario\": \"my.json\"}.";
  command.run = run_anchor;
  return command;
}

}  // namespace headway
