#pragma once

#include <optional>

#include "calibrate/cpu/rank_network.h"

namespace headway {

/// 2 where there are as many cores and mpirun stands on the path, else 1.
[[nodiscard]] int default_ranks();

/// Becomes mpirun, which starts this very command line on `ranks` processes, each in a namespace of
/// its own if there is a `network`. Throws EnvironmentError if it cannot be started.
[[noreturn]] void launch_ranks(int ranks, const std::optional<RankNetwork>& network);

}  // namespace headway
