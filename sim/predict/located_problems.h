#pragma once

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// The same problems, where they only have a JSON pointer with the place in the scenario's file: of
/// the value, or of the nearest one above it that the file has. For what shows only once a job is
/// simulated. Unchanged for a scenario that came from no file.
[[nodiscard]] InputError located(const InputError& error, const Scenario& scenario);

}  // namespace headway
