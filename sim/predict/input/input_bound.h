#pragma once

#include <cstdint>

#include "sim/base/units.h"

namespace headway {

/// What an accelerator takes in a step.
struct InputDemand {
  Bytes batch;
  Seconds compute;  ///< of a step that waits for nothing
};

/// A step where batches come at so many bytes a second, fetched far enough ahead: the longer of
/// reading and computing.
[[nodiscard]] Seconds input_bound_step(const InputDemand& demand, BytesPerSecond bandwidth);

/// The bytes a second with which so much of the time is spent computing; 0 < utilisation <= 1.
[[nodiscard]] BytesPerSecond demand_at(const InputDemand& demand, double utilisation);

/// How many accelerators a store feeds, each at work for so much of the time.
[[nodiscard]] std::int64_t accelerators_fed(const InputDemand& demand, BytesPerSecond store,
                                            double utilisation);

}  // namespace headway
