#pragma once

#include <atomic>

#include "calibrate/cuda/device_resources.h"
#include "kernels/device_kernels.h"

namespace headway {

/// Pinned memory of the host, which devices see.
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t bytes) { HEADWAY_CUDA(cudaMallocHost(&data_, bytes)); }
  ~HostBuffer() { (void)cudaFreeHost(data_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Keeps streams of any devices from going on while the host puts work on them: the first event is
/// not recorded, and so the clock does not run, before the last launch is there. Without it the
/// host's launches, 5 to 10 us each, are measured with work of tens of microseconds.
class StreamHold {
 public:
  /// Requires that what was held the last time has ended.
  void begin() {
    word(0) = 0;
    word(1) = 0;
  }
  void put_on(cudaStream_t stream) { HEADWAY_CUDA(launch_hold(&word(0), &word(1), stream)); }
  void release() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    word(0) = 1;
  }
  /// Whether a stream went on before it was released, as a launch took very long.
  [[nodiscard]] bool has_expired() const { return word(1) != 0; }

 private:
  [[nodiscard]] volatile int& word(int i) const { return static_cast<volatile int*>(memory_.data())[i]; }
  HostBuffer memory_{2 * sizeof(int)};
};

}  // namespace headway
