#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/options/option.h"

namespace headway {

struct Invocation;

/// A command line worth copying, and what it does.
struct Example {
  std::string line;
  std::string about;
};

/// One thing that `headway` does. Each stands in a file of its own and in the table of
/// commands.cpp.
struct Command {
  std::string name;
  std::string group;      ///< the heading under which the overview lists it
  std::string arguments;  ///< "SCENARIO", "FILE..."
  std::string summary;    ///< beside its name in the overview
  std::string about;      ///< first thing in its help: a sentence or two
  std::vector<Example> examples;
  std::vector<Option> options;
  std::vector<std::string> words;  ///< the only first arguments it takes; any if empty
  std::size_t least_arguments = 0;
  std::size_t most_arguments = 0;
  /// What a wrong command line or input has prevented, for the last line: "nothing was simulated."
  std::string outcome;
  std::string details;                                 ///< what only `--help` says
  int (*run)(const Invocation& invocation) = nullptr;  ///< returns the exit code
};

/// All commands, in the order of the overview.
[[nodiscard]] const std::vector<Command>& commands();

/// The command of that name; throws InputError with did-you-mean if there is none.
[[nodiscard]] const Command& command_named(std::string_view name);

}  // namespace headway
