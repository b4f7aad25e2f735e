#pragma once

#include <vector>

#include "calibrate/suite/backend.h"

namespace headway {

/// How the time of one product varied while it was repeated for long.
struct JitterRun {
  GemmPoint product;
  Seconds time;                     ///< of all samples together
  std::vector<double> over_median;  ///< of every sample, rising
  double lag_one = 0.0;  ///< autocorrelation of neighbouring samples: episodes are above 0
  DeviceState at_end = {};  ///< when clocks and power are those that last
  int contaminated = 0;  ///< kept, as what disturbs a device is what is asked for
};

/// The product that stands for a device's compute: the largest batch and the middle width offered.
[[nodiscard]] GemmPoint jitter_product(const Offer& offer);

/// Repeats it until the samples add up to `duration`; each rank for itself. Throws what the backend
/// throws, and Interrupted.
[[nodiscard]] JitterRun measured_jitter(Backend& backend, Seconds duration);

/// "600 s, 52000 samples, ...: quantiles over the median", for a profile's provenance.
[[nodiscard]] std::string jitter_text(const JitterRun& run);

}  // namespace headway
