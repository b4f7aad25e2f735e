#pragma once

#include "sim/base/units.h"

namespace headway {

/// When to checkpoint, in closed form. `cost` is what one keeps training from, `mttf` the mean time
/// between failures of the whole job, memoryless.

/// Young 1974, "A first order approximation to the optimum checkpoint interval":
/// sqrt(2 cost mttf).
[[nodiscard]] Seconds young_interval(Seconds cost, Seconds mttf);

/// Daly 2006, "A higher order estimate of the optimum checkpoint interval for restart dumps",
/// equation 37: sqrt(2 c M) (1 + sqrt(c / 2M) / 3 + (c / 2M) / 9) - c for c < 2M, else M.
[[nodiscard]] Seconds daly_interval(Seconds cost, Seconds mttf);

}  // namespace headway
