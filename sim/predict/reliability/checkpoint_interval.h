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

/// Expected wall time for each second of useful work, equation 20 of the same paper: M exp(R/M)
/// (exp((t + c) / M) - 1) / t, exact for memoryless failures that may also strike during the
/// recovery R. Infinite failures apart it is what a simulated history has on average.
[[nodiscard]] double expected_stretch(Seconds interval, Seconds cost, Seconds recovery,
                                      Seconds mttf);

/// Kokolis et al. 2025, "Revisiting Reliability in Large-Scale Machine Learning Research Clusters"
/// (arXiv:2410.21680): expected share of productive time, (1 - rate (u0 + t / 2)) / (1 + c / t)
/// with `rate` failures of the job a second and u0 the time to be back. First order in rate (u0 +
/// t / 2).
[[nodiscard]] double first_order_ettr(Seconds interval, Seconds cost, Seconds recovery,
                                      Seconds mttf);

}  // namespace headway
