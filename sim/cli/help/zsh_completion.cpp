#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/shell_text.h"
#include "sim/cli/command.h"
#include "sim/cli/help/completion.h"

namespace headway {
namespace {

/// Text inside [...] or after a colon of _arguments and _describe.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string value_spec(const Option& option) {
  if (option.value.empty()) return "";
  if (!option.words.empty()) {
    return fmt::format(":{}:({})", escaped(option.value), fmt::join(option.words, " "));
  }
  return fmt::format(":{}:_files", escaped(option.value));
}

/// One specification a spelling; an option that may not be repeated excludes its other spelling.
std::string option_specs(const Option& option) {
  const std::string tail = fmt::format("[{}]{}", escaped(option.help), value_spec(option));
  const std::string once = option.letter == '\0' || option.repeatable
                               ? ""
                               : fmt::format("(-{} --{})", option.letter, option.name);
  const std::string head = option.repeatable ? "*" : once;
  std::string specs = " " + shell_quoted(fmt::format("{}--{}{}", head, option.name, tail));
  if (option.letter != '\0') {
    specs += " " + shell_quoted(fmt::format("{}-{}{}", head, option.letter, tail));
  }
  return specs;
}

std::string argument_specs(const Command& command) {
  std::string specs;
  if (!command.words.empty()) {
    specs += " " + shell_quoted(fmt::format("1:{}:({})", escaped(command.arguments),
                                            fmt::join(command.words, " ")));
  }
  return specs + " '*:file:_files'";
}

}  // namespace

std::string zsh_completion() {
  std::string text =
      "#compdef headway\n"
      "# zsh completion of headway; to be kept as _headway in a folder of $fpath\n"
      "_headway() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : commands()) {
    text += fmt::format("    {}\n", shell_quoted(command.name + ":" + escaped(command.summary)));
  }
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const Command& command : commands()) {
    text += fmt::format("    {})\n      _arguments -S", command.name);
    for (const Option& option : command.options) text += " \\\n       " + option_specs(option);
    text += " \\\n       " + argument_specs(command) + " ;;\n";
  }
  return text + "  esac\n}\n_headway \"$@\"\n";
}

}  // namespace headway
