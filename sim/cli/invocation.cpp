#include "sim/cli/invocation.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {

std::string Invocation::reproducing_line() const {
  std::string line = "headway " + command.name;
  for (const std::string& word : arguments.positional()) line += " " + shell_quoted(word);
  for (const Arguments::Use& use : arguments.uses()) {
    const auto option = std::ranges::find(command.options, use.option, &Option::name);
    if (!option->changes_result) continue;
    line += " --" + use.option;
    if (!option->value.empty()) line += " " + shell_quoted(use.value);
  }
  return line;
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace headway
