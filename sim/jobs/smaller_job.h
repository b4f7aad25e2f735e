#pragma once

#include <optional>

#include "sim/jobs/strategy.h"

namespace headway {

/// The same work for each replica with fewer replicas, on the first nodes of the same fabric.
/// Nothing where groups of experts or of shards do not divide so many ranks.
[[nodiscard]] std::optional<Strategy> with_replicas(Strategy strategy, int replicas);

}  // namespace headway
