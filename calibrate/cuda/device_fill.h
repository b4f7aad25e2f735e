#pragma once

#include "calibrate/cuda/event_wait.h"

namespace headway {

// Memory of the current device filled from the host, done when they return. cudaMemcpy from memory
// that is not pinned, and cudaMemset, return before that, and no stream that is its own master
// waits for the default stream that they use (CUDA Runtime API, "API synchronization behavior"): a
// kernel launched next could read what stood there before.

inline void upload(void* to, const void* from, std::size_t bytes) {
  const DeviceStream stream;
  HEADWAY_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  wait_for(stream);
}

inline void fill_with(void* to, int byte, std::size_t bytes) {
  const DeviceStream stream;
  HEADWAY_CUDA(cudaMemsetAsync(to, byte, bytes, stream));
  wait_for(stream);
}

}  // namespace headway
