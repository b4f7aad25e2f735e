#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/network/topology.h"
#include "sim/programs/workload.h"

namespace headway {

/// Accelerators `first` to `last` by global index.
struct AcceleratorRange {
  std::int32_t first = 0;
  std::int32_t last = 0;
  [[nodiscard]] bool has(std::int32_t accelerator) const {
    return first <= accelerator && accelerator <= last;
  }
};

/// From one moment of the iteration to another some accelerators compute slower: thermal
/// throttling, or a node that fails slow (without an end).
struct SlowEpisode {
  AcceleratorRange accelerators;
  double from = 0.0;  ///< seconds from the start of the iteration
  double to = std::numeric_limits<double>::infinity();
  double time_factor = 1.0;  ///< at least 1
};

/// Again and again accelerators do nothing: garbage collection, noise of the operating system. Each
/// has its own phase, or all that pause together one; it is drawn evenly.
struct Pauses {
  AcceleratorRange accelerators;
  double every = 1.0;  ///< seconds from the start of one to the start of the next
  double lasts = 0.0;  ///< less than `every`
  bool together = false;
};

/// From one moment to another a link carries less; nothing at all with a factor of 0.
struct LinkEpisode {
  LinkId link = -1;
  double from = 0.0;
  double to = std::numeric_limits<double>::infinity();
  double bandwidth_factor = 1.0;  ///< 0 to 1
};

/// What others send over the fabric from one moment to another: as much as the cap of the plan's
/// rate, or less where its links are shared.
struct BackgroundFlow {
  FlowPlan plan;
  double from = 0.0;
  double to = std::numeric_limits<double>::infinity();
};

}  // namespace headway
