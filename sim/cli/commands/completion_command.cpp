#include <array>
#include <string_view>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/help/completion.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"

namespace headway {
namespace {

constexpr std::array<std::pair<std::string_view, std::string (*)()>, 4> kReaders{{
    {"bash", bash_completion},
    {"zsh", zsh_completion},
    {"fish", fish_completion},
    {"man", man_page},
}};

int run_completion(const Invocation& invocation) {
  const std::string& asked = invocation.arguments.positional().front();
  for (const auto& [name, text] : kReaders) {
    if (name != asked) continue;
    invocation.terminal.print(text());
    return kExitDone;
  }
  refuse("there is no completion for " + in_quotes(asked), "use bash, zsh, fish or man");
}

}  // namespace

Command completion_command() {
  Command command;
  command.name = "completion";
  command.group = "Look up";
  command.arguments = "SHELL";
  command.summary = "completion for bash, zsh or fish; the manual page";
  command.about =
      "Prints what makes a shell complete Headway's commands and options, or the manual page. "
      "SHELL is bash, zsh, fish or man.";
  command.examples = {
      {"headway completion bash",
       "for a file ~/.local/share/bash-completion/completions/headway; from the next shell on"},
      {"headway completion man", "for a file headway.1, which man -l shows"},
  };
  for (const auto& [name, text] : kReaders) command.words.emplace_back(name);
  command.options = with_standard_options({});
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was printed";
  command.details =
      "Made from the same table as the help, so it knows every command, option and word. "
      "`cmake --install` puts all of it where shells and man look.";
  command.run = run_completion;
  return command;
}

}  // namespace headway
