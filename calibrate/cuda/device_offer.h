#pragma once

#include "calibrate/suite/backend.h"

namespace headway {

/// What the first device and its libraries offer, among `devices` of them.
[[nodiscard]] Offer device_offer(int devices);

/// Devices that can be used; throws EnvironmentError saying why there are none.
[[nodiscard]] int usable_devices();

}  // namespace headway
