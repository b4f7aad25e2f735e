#pragma once

#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Devices that take part in collectives: those of a lone process, or one for each of several.
struct DeviceGroup {
  int processes = 1;
  int devices = 1;
  int devices_per_node = 1;
};
/// Call on all ranks.
[[nodiscard]] DeviceGroup device_group(Rendezvous& rendezvous, int local_rank);

/// Throws EnvironmentError where two processes have the same device: each would measure half of it.
/// Call on all ranks.
void refuse_shared_devices(Rendezvous& rendezvous, int device);

/// What a device and its libraries offer, as one of a group.
[[nodiscard]] Offer device_offer(int device, const DeviceGroup& group);

/// Devices that can be used; throws EnvironmentError saying why there are none.
[[nodiscard]] int usable_devices();

}  // namespace headway
