#pragma once

#include <string>
#include <vector>

namespace headway {

// Made from the table of commands and their options, so that they know what the program knows.

/// What may stand in the place of the last of `words`, which follow "headway" and may be empty:
/// lines "WORD<tab>WHAT IT IS". None where the shell knows better: names of files.
[[nodiscard]] std::string candidates(const std::vector<std::string>& words);

/// Files for shells to source or to keep in their folder of completions. They ask the program each
/// time: `headway __complete WORD...` prints candidates.
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

/// The manual page, section 1, for man (macros of man(7)).
[[nodiscard]] std::string man_page();

}  // namespace headway
