#pragma once

#include <string>

#include "sim/cli/terminal.h"

namespace headway {

/// What was going on when something failed.
struct FailureContext {
  std::string outcome;               ///< "nothing was simulated"
  std::string scenario_fingerprint;  ///< empty if none was read yet
};

/// Says on standard error what the exception being handled means, and returns its exit code. To be
/// called in a catch block; the only place that turns exceptions into words.
[[nodiscard]] int report_failure(Terminal& terminal, const FailureContext& context);

}  // namespace headway
