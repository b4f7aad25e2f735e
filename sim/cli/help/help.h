#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/cli/command.h"

namespace headway {

/// A word and what it means, for tables of help.
struct HelpTerm {
  std::string_view name;
  std::string_view meaning;
};
/// Variables of the environment that the program looks at.
[[nodiscard]] std::span<const HelpTerm> environment_terms();
/// Where files are looked for.
[[nodiscard]] std::string_view files_text();
/// What help says beside an option: its clause, whether it may be repeated, what holds without it.
[[nodiscard]] std::string option_text(const Option& option);

/// What `headway` prints by itself: what it is, an example, the commands.
[[nodiscard]] std::string overview();

/// "headway 0.1.0", and if `verbose` everything else that results depend on.
[[nodiscard]] std::string version_text(bool verbose);

/// `headway COMMAND -h`: one screen.
[[nodiscard]] std::string short_help(const Command& command);

/// `headway COMMAND --help`: the same and all the rest.
[[nodiscard]] std::string full_help(const Command& command);

}  // namespace headway
