#pragma once

#include "sim/plan/plan_options.h"

namespace headway {

/// What a plan finds besides the strategy.
enum class PlannedCluster {
  as_given,    ///< nothing: the scenario says how many nodes there are
  of_any_size  ///< the number of nodes
};

/// Reads the scenario of a plan, whose strategy, and number of nodes if that is asked for, are for
/// the plan to find. Where they do not go together as they stand, the data-parallel degree is left
/// out, and whatever else is searched that does not go with other fields; where the number of nodes
/// is asked for, so are all fields that are searched, and it is read on one node. `options` then
/// says so to whoever reads it again. Throws InputError for everything else that is wrong.
[[nodiscard]] Scenario read_planned(PlanOptions& options, PlannedCluster cluster,
                                    Diagnostics& diagnostics);

}  // namespace headway
