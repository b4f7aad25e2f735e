#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/shell_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/files/json_output.h"
#include "sim/files/json_text.h"
#include "sim/files/read_memory.h"
#include "sim/plan/open_choices.h"
#include "sim/plan/plan_reading.h"
#include "sim/plan/purchase_plan.h"
#include "sim/reference/explain_file.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::size_t kMostCheckedFiles = 100'000;
constexpr std::size_t kShownChoices = 6;
constexpr std::size_t kShownValues = 4;

std::string choices_text(const OpenChoices& open, std::size_t columns) {
  if (open.choices.empty()) return "";
  const TimeScale scale(open.time);
  std::string text =
      fmt::format("    leaves open, where an iteration takes {} in closed form, uncontended:\n",
                  scale.with_unit(open.time));
  const std::size_t shown = std::min(open.choices.size(), kShownChoices);
  TextTable table({{"field"}, {"taken"}, {"otherwise"}});
  for (std::size_t i = 0; i < shown; ++i) {
    const OpenChoice& choice = open.choices[i];
    std::vector<std::string> others;
    for (const OpenValue& other : choice.others) {
      if (others.size() == kShownValues) break;
      others.push_back(
          fmt::format("{} with {}", scale.with_unit(other.time), unquoted_json(*other.value)));
    }
    table.add_row({choice.field, unquoted_json(*choice.taken), join_words(others, ", ")});
  }
  return text + table.text(6, columns);
}

/// The problems of a scenario that `headway plan` reads, which the first of them says.
Diagnostics with_plan_named(const Diagnostics& problems, const std::string& path) {
  Diagnostics named;
  for (Diagnostic problem : problems.all()) {
    if (problem.severity == Severity::error && !named.has_errors()) {
      const std::string before = problem.help.empty() ? "" : problem.help + "; ";
      problem.help = before + fmt::format("`headway plan {}` finds degrees that go together",
                                          shell_quoted(path));
    }
    named.add(std::move(problem));
  }
  return named;
}

int run_check(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics command_line;
  ScenarioOptions options{.overrides = overrides_of(arguments, command_line),
                          .profile = arguments.value("profile")};
  const bool resolves = arguments.has("resolve");
  if (resolves && arguments.positional().size() > 1) {
    command_line.add({.message = "--resolve writes out one file"});
  }
  command_line.throw_if_errors();

  const bool is_alone = arguments.positional().size() == 1;
  ProblemsOnce once;
  for (const std::string& path : arguments.positional()) {
    options.memory = std::make_shared<ReadMemory>();  // a file is read as what it may be, in turn
    Diagnostics found;
    const auto file = explained_file(path, options, found);
    if (!file && !resolves) {
      Diagnostics of_plan;
      const auto planned = plan_reading(path, options, of_plan);
      if (planned && planned->is_meant) {
        check_plan_fields(path, options, of_plan);
        once.append(of_plan);
        if (of_plan.has_errors()) continue;
        terminal.print(
            fmt::format("ok  {}  scenario for plan: {}\n", printable(path), planned->about));
        continue;
      }
      if (planned) found = with_plan_named(found, path);
    }
    if (!file || file->kind == "scenario") check_plan_fields(path, options, found);
    once.append(found);
    if (!file || found.has_errors()) continue;
    if (resolves) {
      terminal.print(json_document_text(file->resolved));
    } else {
      terminal.print(fmt::format("ok  {}  {}: {}\n", printable(path), file->kind, file->about));
      if (is_alone && file->kind == "scenario") {
        terminal.print(choices_text(open_choices(path, options), terminal.columns()));
      }
    }
  }
  const std::vector<Diagnostic>& problems = once.all();
  const bool has_errors = std::ranges::any_of(
      problems, [](const Diagnostic& problem) { return problem.severity == Severity::error; });
  if (has_errors) throw InputError(problems);
  Diagnostics warnings;
  for (const Diagnostic& warning : problems) warnings.add(warning);
  show_warnings(warnings, terminal);
  return kExitDone;
}

}  // namespace

Command check_command() {
  Command command;
  command.name = "check";
  command.group = "Look up";
  command.arguments = "FILE...";
  command.summary = "every problem of input files; runs nothing";
  command.about =
      "Reads files by what their \"schema\" says they are, with all they refer to, and prints "
      "every problem of all of them. Runs nothing. Of one scenario it also names the fields that "
      "it leaves to its software and that matter most, with what other words there would make of "
      "its iteration.";
  command.examples = {
      {"headway check scenarios/*.json topologies/*.json", "all files of a project"},
      {"headway check my.json --resolve", "the scenario with every default written out, as JSON"},
  };
  command.options = with_standard_options({
      set_option("/strategy/tensor_parallel=4"),
      profile_option(),
      {.name = "resolve",
       .help = "prints the explicit form of one file, every default written out, as JSON",
       .group = OptionGroup::output},
  });
  command.least_arguments = 1;
  command.most_arguments = kMostCheckedFiles;
  command.outcome = "nothing was run";
  command.details =
      "Standard input (-) is read as a scenario. A scenario with a \"goal\" or \"candidates\" may "
      "leave its degrees and its number of nodes to `headway plan`. What --resolve prints reads "
      "back as the same "
      "scenario. The exit code is 2 if there is any problem; warnings alone are none.";
  command.run = run_check;
  return command;
}

}  // namespace headway
