#include <fmt/format.h>

#include "reports/answers/catalog.h"
#include "sim/base/join_words.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"

namespace headway {
namespace {

constexpr std::string_view kShapes = "shapes";

int run_shapes(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const ScenarioOptions options{.overrides = overrides_of(arguments, diagnostics)};
  if (!arguments.has("scenario")) {
    Diagnostic problem;
    problem.message = "list shapes needs --scenario";
    problem.help = "write `headway list shapes --scenario llama3_8b_64`";
    diagnostics.add(std::move(problem));
  }
  diagnostics.throw_if_errors();
  const Scenario scenario = read_scenario(*arguments.value("scenario"), options, diagnostics);
  show_warnings(diagnostics, invocation.terminal);
  const JobShapes shapes{product_shapes(scenario.model, *scenario.strategy),
                         attention_shapes(scenario.model, *scenario.strategy)};
  invocation.terminal.print(arguments.has("json") ? shapes_json_text(shapes) : shapes_text(shapes));
  return kExitDone;
}

int run_list(const Invocation& invocation) {
  const std::string& kind = invocation.arguments.positional().front();
  if (kind == kShapes) return run_shapes(invocation);
  for (const char* option : {"scenario", "set"}) {
    if (!invocation.arguments.has(option)) continue;
    refuse(fmt::format("--{} goes with shapes only", option),
           "write `headway list shapes --scenario FILE`");
  }
  const std::vector<CatalogEntry> entries = catalog(kind);
  Terminal& terminal = invocation.terminal;
  terminal.print(invocation.arguments.has("json") ? catalog_json_text(kind, entries)
                                                  : catalog_text(entries, terminal.columns()));
  return kExitDone;
}

}  // namespace

Command list_command() {
  Command command;
  command.name = "list";
  command.group = "Look up";
  command.arguments = "KIND";
  command.summary = "what ships: models, topologies, ...; shapes of a job";
  command.about = fmt::format(
      "Lists what ships with Headway and can be named in a scenario. "
      "KIND is one of {}, or shapes: the matrix products and the attention of a scenario.",
      join_words(catalog_kinds(), ", "));
  command.examples = {
      {"headway list models", "the model library, with sizes"},
      {"headway list shapes --scenario llama3_8b_64", "lines for headway-calibrate --shapes -"},
  };
  command.options = with_standard_options(
      {{.name = "scenario",
        .value = "FILE",
        .help = "whose matrix products and attention are listed; - is standard input",
        .group = OptionGroup::input},
       set_option("/strategy/micro_batch=2"),
       json_option()});
  command.words = catalog_kinds();
  command.words.emplace_back("shapes");
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was listed";
  command.details =
      "A file that cannot be read is listed with the reason. Files in $HEADWAY_DATA_DIR come "
      "before installed ones of the same name.";
  command.run = run_list;
  return command;
}

}  // namespace headway
