#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/command.h"
#include "sim/cli/help/completion.h"

namespace headway {
namespace {

/// Between single quotes fish knows two marks.
std::string quoted(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe + "'";
}

std::string option_line(const Command& command, const Option& option) {
  std::string line = fmt::format("complete -c headway -n '__fish_seen_subcommand_from {}' -l {}",
                                 command.name, option.name);
  if (option.letter != '\0') line += fmt::format(" -s {}", option.letter);
  if (!option.words.empty()) {
    line += " -x -a " + quoted(fmt::format("{}", fmt::join(option.words, " ")));
  } else if (!option.value.empty()) {
    line += " -r";
  }
  return line + " -d " + quoted(option.help) + "\n";
}

}  // namespace

std::string fish_completion() {
  std::string text =
      "# fish completion of headway; to be kept as ~/.config/fish/completions/headway.fish\n";
  for (const Command& command : commands()) {
    text += fmt::format("complete -c headway -n __fish_use_subcommand -f -a {} -d {}\n",
                        command.name, quoted(command.summary));
  }
  text += "complete -c headway -n __fish_use_subcommand -l help -s h -d 'what there is'\n";
  text += "complete -c headway -n __fish_use_subcommand -l version -d 'the version'\n";
  for (const Command& command : commands()) {
    if (!command.words.empty()) {
      text += fmt::format("complete -c headway -n '__fish_seen_subcommand_from {}' -f -a {}\n",
                          command.name, quoted(fmt::format("{}", fmt::join(command.words, " "))));
    }
    for (const Option& option : command.options) text += option_line(command, option);
  }
  return text;
}

}  // namespace headway
