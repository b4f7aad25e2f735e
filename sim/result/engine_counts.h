#pragma once

#include <cstdint>

namespace headway {

/// What the engine did in a run. Counts tell of a regression on any machine.
struct EngineCounts {
  std::int64_t events = 0;      ///< that the executor handled
  std::int64_t flows = 0;       ///< that crossed the fabric
  std::int64_t settlings = 0;   ///< moments in which links were shared out anew
  std::int64_t recomputed = 0;  ///< flows in these, again in each round
  std::int64_t changed = 0;     ///< rates
};

}  // namespace headway
