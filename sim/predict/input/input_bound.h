#pragma once

#include "sim/base/units.h"

namespace headway {

/// What an accelerator takes in a step.
struct InputDemand {
  Bytes batch;
  Seconds compute;  ///< of a step that waits for nothing
};

/// The bytes a second with which so much of the time is spent computing; 0 < utilisation <= 1.
[[nodiscard]] BytesPerSecond demand_at(const InputDemand& demand, double utilisation);

}  // namespace headway
