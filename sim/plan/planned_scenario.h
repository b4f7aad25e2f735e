#pragma once

#include "sim/plan/plan_options.h"

namespace headway {

/// Reads the scenario of a plan of cluster sizes, whose strategy and number of nodes are for the
/// plan to find: where they do not go together as they stand, the fields that are searched are left
/// out of the strategy, and it is read on one node. `options` then says so to whoever reads it
/// again. Throws InputError for everything else that is wrong.
[[nodiscard]] Scenario read_planned(PlanOptions& options, Diagnostics& diagnostics);

}  // namespace headway
