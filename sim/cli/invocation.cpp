#include "sim/cli/invocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/shell_text.h"

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

}  // namespace headway
