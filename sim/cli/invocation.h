#pragma once

#include <string>

#include "sim/cli/command.h"
#include "sim/cli/options/arguments.h"
#include "sim/cli/terminal.h"

namespace headway {

/// A command as it was called: what its `run` is handed.
struct Invocation {
  const Command& command;
  const Arguments& arguments;
  Terminal& terminal;
  std::string& scenario_fingerprint;  ///< set once known, for the report of a bug

  /// The command line that gives the same result: no options that only say how it is computed or
  /// shown, so that results do not differ by them.
  [[nodiscard]] std::string reproducing_line() const;
};

}  // namespace headway
