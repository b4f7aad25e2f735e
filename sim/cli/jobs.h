#pragma once

#include "sim/cli/options/arguments.h"

namespace headway {

/// Simulations at a time: --jobs, else $HEADWAY_JOBS, else the cores that this process may use.
[[nodiscard]] int jobs_of(const Arguments& arguments);

}  // namespace headway
