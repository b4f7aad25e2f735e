#pragma once

#include "sim/costs/profile.h"

namespace headway {

/// Makes products and attention that were measured one by one as slow as they are where the device
/// never rests: their rates times `rate`, in (0, 1]. Under the power of minutes of work its clock is
/// lower than between the waits of a calibration. What the memory bounds, and what others published
/// (`rate_in_training` says it of that), stays as it is.
void sustain(DeviceCosts& device, double rate);

}  // namespace headway
