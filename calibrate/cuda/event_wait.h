#pragma once

#include "calibrate/cuda/device_resources.h"
#include "calibrate/suite/device_wait.h"

namespace headway {

/// Whether everything has been done that was on the event's stream when it was recorded.
[[nodiscard]] inline bool has_passed(const DeviceEvent& event) {
  const cudaError_t state = cudaEventQuery(event);
  if (state == cudaErrorNotReady) return false;
  HEADWAY_CUDA(state);
  return true;
}

inline void wait_for(const DeviceEvent& event) {
  constexpr Seconds kDeadline = 60.0_s;
  wait_until([&event] { return has_passed(event) ? WaitState::done : WaitState::waiting; },
             kDeadline, "an operation on the device");
}

/// Until everything has been done that was put on the stream.
inline void wait_for(cudaStream_t stream) {
  const DeviceEvent end;
  HEADWAY_CUDA(cudaEventRecord(end, stream));
  wait_for(end);
}

}  // namespace headway
