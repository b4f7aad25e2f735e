#pragma once

#include <optional>

#include "calibrate/cpu/rank_network.h"

namespace headway {

/// 2 where there are as many cores and mpirun stands on the path, else 1.
[[nodiscard]] int default_ranks();

/// Starts this very command line on `ranks` processes by mpirun, each in a namespace of its own if
/// there is a `network`, and returns their exit code once all have ended. Signals that interrupt
/// this process are passed on. Throws EnvironmentError if ranks cannot be started, or ended other
/// than by themselves: one was killed.
[[nodiscard]] int launch_ranks(int ranks, const std::optional<RankNetwork>& network);

}  // namespace headway
