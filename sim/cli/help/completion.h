#pragma once

#include <string>

namespace headway {

// Made from the table of commands and their options, so that they know what the program knows.

/// A file for shells to source or to keep in their folder of completions.
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

/// The manual page, section 1, for man (macros of man(7)).
[[nodiscard]] std::string man_page();

}  // namespace headway
