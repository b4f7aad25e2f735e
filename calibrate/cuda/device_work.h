#pragma once

#include "calibrate/cuda/device_api.h"
#include "calibrate/suite/concurrent_operation.h"

namespace headway {

/// Repeated work on devices, whose beginning streams can wait for.
class DeviceWork : public RepeatedWork {
 public:
  /// Recorded where the first repetition begins.
  [[nodiscard]] virtual cudaEvent_t begun() const = 0;

 protected:
  /// The event to be waited for, or null. Work of devices stands beside its like only.
  [[nodiscard]] static cudaEvent_t event_of(const RepeatedWork* after) {
    return after == nullptr ? nullptr : dynamic_cast<const DeviceWork&>(*after).begun();
  }
};

}  // namespace headway
