#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/cli/command.h"

namespace headway {

// Each is defined in the file that bears its name.
Command simulate_command();
Command sweep_command();
Command plan_command();
Command collective_command();
Command compare_command();
Command completion_command();
Command anchor_command();
Command replay_command();
Command validate_command();
Command report_command();
Command import_command();
Command topology_command();
Command route_command();
Command check_command();
Command explain_command();
Command list_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands = {
      simulate_command(), sweep_command(),   plan_command(),     compare_command(),
      report_command(),   anchor_command(),  replay_command(),   collective_command(),
      validate_command(), import_command(),  topology_command(), route_command(),
      check_command(),    explain_command(), list_command(),     completion_command(),
  };
  return kCommands;
}

const Command& command_named(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found != commands().end()) return *found;
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  Diagnostic problem;
  problem.message = fmt::format("there is no command {}", in_quotes(name));
  const auto meant = closest(name, names);
  if (meant) problem.help = fmt::format("did you mean \"{}\"? ", *meant);
  problem.help += "`headway -h` lists the commands";
  throw InputError(std::move(problem));
}

}  // namespace headway
