#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/plan_options.h"

namespace headway {

/// How the scenario of a plan is read with `changes`: with any strategy that fills so many
/// accelerators, which a search then varies. `changed` is the scenario as it is without them, but
/// with the model, the batch and the sequence length that they lead to. Nothing if no strategy
/// divides all that.
[[nodiscard]] std::optional<LeaderOptions> variant_options(const PlanOptions& options,
                                                           const Scenario& changed,
                                                           const std::vector<Override>& changes,
                                                           std::int64_t accelerators);

/// Reads it. What a search leaves as the scenario says it is what `base` says, not what was set for
/// it to be read. Throws InputError.
[[nodiscard]] Scenario read_variant(const LeaderOptions& options, const Scenario& base);

}  // namespace headway
