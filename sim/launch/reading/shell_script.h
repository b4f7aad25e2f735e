#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

struct ShellWord {
  std::string text;  ///< with its variables filled in; one that nobody set stays "$NAME"
  int line = 0;      ///< where it is written, from 1
};

/// What a shell script runs, as far as reading it tells: variables, arrays, their defaults and
/// arithmetic are worked out; programs are not run.
struct ShellScript {
  std::vector<std::vector<ShellWord>> commands;  ///< in the order in which they are written
  /// Lines that set variables under a condition, which is taken to hold.
  std::set<int> conditional_lines;
  std::map<std::string, std::string> variables;  ///< as the last line leaves them
};

/// Never fails: what is no shell script has words that mean nothing.
[[nodiscard]] ShellScript read_shell_script(std::string_view text);

/// The value of a shell's arithmetic, of whole numbers, + - * / % and brackets; empty if it is
/// something else or divides by zero.
[[nodiscard]] std::string shell_arithmetic(std::string_view text,
                                           const std::map<std::string, std::string>& variables);

}  // namespace headway
