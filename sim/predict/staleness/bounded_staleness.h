#pragma once

#include <cstdint>

#include "sim/programs/perturbation/jitter.h"

namespace headway {

/// Workers that may be ahead of the slowest by so many steps, each step of each worker longer or
/// shorter by a draw of its own, nothing to send.
struct BoundedStaleness {
  int workers = 1;
  int bound = 0;  ///< 0: they wait for each other at every step
  Jitter jitter;
  std::uint64_t seed = 1;
};

/// The share of the workers' time in which they wait. A worker begins step t when it ended step
/// t - 1 and the slowest ended step t - 1 - bound (Ho et al. 2013, stale synchronous parallel); the
/// first steps, of which nothing is settled, do not count.
[[nodiscard]] double idle_share(const BoundedStaleness& job);

}  // namespace headway
