#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "sim/cli/command.h"
#include "sim/cli/help/completion.h"

namespace headway {
namespace {

/// "-o", "--output"
std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> words;
  if (option.letter != '\0') words.push_back(fmt::format("-{}", option.letter));
  words.push_back("--" + option.name);
  return words;
}

std::string reply(const std::vector<std::string>& words) {
  return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", fmt::join(words, " "));
}

/// What follows an option that takes a value: one of its words, else left to the shell (a file).
std::string value_cases(const Command& command) {
  std::string cases;
  for (const Option& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& spelling : spellings(option)) {
      patterns.push_back(command.name + ":" + spelling);
    }
    cases += fmt::format("    {}) {}return ;;\n", fmt::join(patterns, " | "),
                         option.words.empty() ? "" : reply(option.words) + "; ");
  }
  return cases;
}

std::string option_case(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options) {
    for (const std::string& spelling : spellings(option)) words.push_back(spelling);
  }
  return fmt::format("      {}) {} ;;\n", command.name, reply(words));
}

}  // namespace

std::string bash_completion() {
  std::vector<std::string> names;
  std::string values;
  std::string options;
  std::string arguments;
  for (const Command& command : commands()) {
    names.push_back(command.name);
    values += value_cases(command);
    options += option_case(command);
    if (!command.words.empty()) {
      arguments += fmt::format("    {}) {} ;;\n", command.name, reply(command.words));
    }
  }
  names.insert(names.end(), {"-h", "--help", "--version"});
  return fmt::format(
      "# bash completion of headway; to be sourced, or kept as\n"
      "# ~/.local/share/bash-completion/completions/headway\n"
      "_headway() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local command=${{COMP_WORDS[1]}}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    {}\n"
      "    return\n"
      "  fi\n"
      "  case $command:$before in\n"
      "{}"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    case $command in\n"
      "{}"
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  [ \"$COMP_CWORD\" -eq 2 ] || return\n"
      "  case $command in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "complete -o bashdefault -o default -F _headway headway\n",
      reply(names), values, options, arguments);
}

}  // namespace headway
