#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "reports/report_format.h"
#include "reports/text_report.h"
#include "reports/write_file.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/jobs.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/predict/simulate.h"
#include "sim/result/json/result_json.h"

namespace headway {
namespace {

Diagnostic problem(std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return diagnostic;
}

Seconds measured_of(const Arguments& arguments, Diagnostics& diagnostics) {
  const auto text = arguments.value("measured");
  if (!text) {
    diagnostics.add(problem("anchor needs --measured TIME",
                            "what one optimizer step took: --measured \"5.3 s\""));
    return Seconds(1.0);
  }
  const ParsedQuantity<Seconds> parsed = parse_quantity<Seconds>(*text);
  if (const auto* wrong = std::get_if<QuantityProblem>(&parsed)) {
    diagnostics.add(problem("--measured needs a time: " + wrong->problem, wrong->help));
    return Seconds(1.0);
  }
  const Seconds measured = std::get<Seconds>(parsed);
  if (measured <= Seconds(0.0)) {
    diagnostics.add(
        problem(fmt::format("--measured needs a time above 0, not {}", in_quotes(*text)),
                "write \"5.3 s\""));
  }
  return measured;
}

Scenario read(const std::string& path, const ScenarioOptions& options, Diagnostics& diagnostics) {
  Scenario scenario = read_scenario(path, options, diagnostics);
  if (scenario.anchor) {
    diagnostics.add(problem(fmt::format("{} has an anchor already", path),
                            "`headway simulate` applies it; take it out to give another"));
  }
  diagnostics.throw_if_errors();
  return scenario;
}

/// The scenario to predict, with what was measured as its anchor.
Scenario anchored(const Arguments& arguments, const ScenarioOptions& options, Seconds measured,
                  Diagnostics& diagnostics) {
  Scenario ran = read(arguments.positional().front(), options, diagnostics);
  nlohmann::json resolved = {{"measured_iteration_time", exact_text(measured)}};
  const auto other = arguments.value("for");
  if (!other) {
    ran.anchor = Anchor{measured, nullptr};
    (*ran.resolved)["anchor"] = std::move(resolved);
    return ran;
  }
  Scenario asked = read(*other, {}, diagnostics);
  const std::string& device = ran.cluster->node_type.accelerator;
  if (asked.cluster->node_type.accelerator != device) {
    throw InputError(problem(fmt::format("{} was measured on {}, {} is on {}", ran.name, device,
                                         asked.name, asked.cluster->node_type.accelerator),
                             "an anchor tells of one accelerator only"));
  }
  resolved["scenario"] = ran.resolved;
  (*asked.resolved)["anchor"] = std::move(resolved);
  asked.anchor = Anchor{measured, std::make_shared<const Scenario>(std::move(ran))};
  return asked;
}

std::vector<OutputFile> outputs_of(const Arguments& arguments, Diagnostics& diagnostics) {
  std::vector<OutputFile> outputs =
      report_files(arguments.values("output"), report_suffixes(), diagnostics);
  check_outputs(outputs, diagnostics);
  check_outputs_spare(
      outputs, {arguments.positional().front(), arguments.value("for").value_or("")}, diagnostics);
  return outputs;
}

int run_anchor(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics diagnostics;
  const ScenarioOptions options = scenario_options_of(arguments, diagnostics);
  const Seconds measured = measured_of(arguments, diagnostics);
  const std::vector<OutputFile> outputs = outputs_of(arguments, diagnostics);
  const int jobs = jobs_of(arguments);
  diagnostics.throw_if_errors();
  const Scenario scenario = anchored(arguments, options, measured, diagnostics);
  show_warnings(diagnostics, terminal);

  SimulateOptions simulate_options;
  simulate_options.jobs = jobs;
  // What was measured ran, so it fitted.
  const bool is_very_job = !arguments.has("for");
  simulate_options.even_if_it_does_not_fit = is_very_job;
  simulate_options.command_line = invocation.reproducing_line();
  const Prediction prediction = simulate(scenario, simulate_options).prediction;
  const auto write = [&] {
    for (const OutputFile& output : outputs) {
      write_file(output.path, report_in(*format_of(output.path), prediction));
    }
  };
  write_then_print(write, [&] {
    terminal.print(arguments.has("json") ? result_json_text(prediction)
                                         : text_report(prediction, terminal.colours_output()));
  });
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
      "predicts with that: the same job, or with --for another one.";
  command.examples = {
      {"headway anchor my.json --measured 5.3s", "where the time of that step went"},
      {"headway anchor my.json --measured 5.3s --for larger.json -o larger.md",
       "what another job of the same software would take"},
  };
  command.options = with_standard_options({
      {.name = "measured",
       .value = "TIME",
       .help = "what one optimizer step of SCENARIO took: \"5.3 s\"",
       .group = OptionGroup::input,
       .changes_result = true},
      {.name = "for",
       .value = "OTHER",
       .fallback = "SCENARIO itself",
       .help = "the scenario to predict",
       .group = OptionGroup::input,
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
      "refused. The interval narrows to what remains between configurations of one source once "
      "that factor is known. --set and --profile change SCENARIO. A scenario can hold the same as "
      "\"anchor\": {\"measured_iteration_time\": \"5.3 s\", \"scenario\": \"my.json\"}.";
  command.run = run_anchor;
  return command;
}

}  // namespace headway
